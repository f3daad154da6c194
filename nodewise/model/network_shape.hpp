// The shapes of networks. One is a struct among the alternatives of NetworkShape, a file in
// model/shapes/ and an entry of the list there.
#pragma once

#include "nodewise/base/family.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::model {

class ParameterVisitor;
struct NetworkLoad;

/// What is to be known of a network of some shape. All functions are local and take a shape of this
/// kind; nodes are at least 0, and a job has at least one.
struct ShapeMethod : MethodInfo {
  Required<NetworkShape (*)()> make;  ///< with the numbers that count where a file has none
  Required<void (*)(ParameterVisitor& visitor, NetworkShape& shape)> describe;  ///< its numbers
  Required<bool> is_known;  ///< whether it has hops and links
  Required<int (*)(const NetworkShape& shape, int node, int other)> hops;  ///< of different nodes
  Required<int (*)(const NetworkShape& shape)> fewest_hops;
  Required<int (*)(const NetworkShape& shape, int n_nodes)> charged_hops;
  Required<double (*)(const NetworkShape& shape, int n_nodes)> available_links;
  /// As contention_hops() and bytes_per_link() of contention.hpp.
  Required<int (*)(const NetworkShape& shape, int n_nodes, int node, int other)> contention_hops;
  Required<double (*)(const NetworkShape& shape, const NetworkLoad& load)> bytes_per_link;

  /// Shapes in the order of NetworkShape's alternatives, so that the first is none.
  static Family<ShapeMethod>& family();
};

inline const ShapeMethod& method_of(const NetworkShape& shape) {
  return ShapeMethod::family()[shape.index()];
}

/// Local. Visits the name of the shape and its numbers; a pass that sets them may take another one.
void visit_shape(ParameterVisitor& visitor, NetworkShape& shape);

namespace shapes {
/// For shapes whose links all messages share alike.
int hops_on_the_way(const NetworkShape& shape, int n_nodes, int node, int other);
double bytes_of_a_link(const NetworkShape& shape, const NetworkLoad& load);
}  // namespace shapes

}  // namespace nodewise::model
