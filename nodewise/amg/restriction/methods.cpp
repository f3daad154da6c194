// The one list of restrictions of an aggregation. What makes the second is in
// setup/aggregation.cpp.
#include "nodewise/amg/restriction/restriction_method.hpp"

namespace nodewise::amg {

const RestrictionMethod& transposed_restriction();
const RestrictionMethod& smoothed_restriction();

Family<RestrictionMethod>& RestrictionMethod::family() {
  static Family<RestrictionMethod> restrictions(
      "restriction", {&transposed_restriction(), &smoothed_restriction()});
  return restrictions;
}

}  // namespace nodewise::amg
