// No shape: nothing is known of links, and nothing is in the way.
#include "nodewise/model/network_shape.hpp"

namespace nodewise::model::shapes {

const ShapeMethod& none_method() {
  static const ShapeMethod method = {
      {"none", "hops and links are not known; terms that need them are left out", ""},
      [] { return NetworkShape(); },
      [](ParameterVisitor&, NetworkShape&) {},
      false,
      [](const NetworkShape&, int, int) { return 0; },
      [](const NetworkShape&) { return 0; },
      [](const NetworkShape&, int) { return 0; },
      [](const NetworkShape&, int) { return unlimited; },
      [](const NetworkShape&, int, int, int) { return 0; },
      [](const NetworkShape&, const NetworkLoad&) { return 0.0; }};
  return method;
}

}  // namespace nodewise::model::shapes
