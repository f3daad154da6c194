// The list of network shapes, and what they have in common.
#include "nodewise/model/contention.hpp"
#include "nodewise/model/machine_parameters.hpp"
#include "nodewise/model/network.hpp"
#include "nodewise/model/network_shape.hpp"

namespace nodewise::model {

namespace shapes {

const ShapeMethod& none_method();
const ShapeMethod& fat_tree_method();
const ShapeMethod& torus_method();
const ShapeMethod& dragonfly_method();

int hops_on_the_way(const NetworkShape& shape, int /*n_nodes*/, int node, int other) {
  return hops(shape, node, other);
}

double bytes_of_a_link(const NetworkShape& shape, const NetworkLoad& load) {
  return load.byte_hops / available_links(shape, load.n_nodes);
}

}  // namespace shapes

Family<ShapeMethod>& ShapeMethod::family() {
  static Family<ShapeMethod> family(
      "network shape", {&shapes::none_method(), &shapes::fat_tree_method(), &shapes::torus_method(),
                        &shapes::dragonfly_method()});
  return family;
}

void visit_shape(ParameterVisitor& visitor, NetworkShape& shape) {
  visitor.choose({"shape", "how nodes are linked"}, ShapeMethod::family(), shape.index(),
                 [&](std::size_t k) {
                   const ShapeMethod& method = ShapeMethod::family()[k];
                   if (k != shape.index()) shape = method.make();
                   method.describe(visitor, shape);
                 });
}

}  // namespace nodewise::model
