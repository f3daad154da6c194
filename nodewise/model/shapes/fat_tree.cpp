// Switches in layers, with as much bandwidth above as below.
#include "nodewise/model/machine_parameters.hpp"
#include "nodewise/model/network_shape.hpp"

namespace nodewise::model::shapes {

namespace {

void describe(ParameterVisitor& v, FatTree& tree) {
  v.count({"nodes_per_switch", "of a fat tree: nodes or switches below each switch"},
          tree.nodes_per_switch);
  v.count({"levels", "of a fat tree: layers of switches"}, tree.levels);
}

int hops_between(const FatTree& tree, int a, int b) {
  // Up to the lowest switch above both, and down again.
  int level = 1;
  int x = a / tree.nodes_per_switch;
  int y = b / tree.nodes_per_switch;
  while (x != y && level < tree.levels) {
    x /= tree.nodes_per_switch;
    y /= tree.nodes_per_switch;
    ++level;
  }
  return 2 * level;
}

int fewest(const FatTree& /*tree*/) {
  return 2;
}

int charged(const FatTree& tree, int /*n_nodes*/) {
  return 2 * tree.levels;
}

double links(const FatTree& tree, int n_nodes) {
  // A job that fits below one switch does not use those above.
  int level = 1;
  double below = tree.nodes_per_switch;
  while (n_nodes > below && level < tree.levels) {
    below *= tree.nodes_per_switch;
    ++level;
  }
  return 1.0 * n_nodes * level;
}

}  // namespace

const ShapeMethod& fat_tree_method() {
  static const ShapeMethod method = {
      {"fat_tree", "switches in layers, as much bandwidth above as below", "Gahvari et al. 2014"},
      [] { return NetworkShape(FatTree()); },
      [](ParameterVisitor& v, NetworkShape& shape) { describe(v, std::get<FatTree>(shape)); },
      true,
      [](const NetworkShape& shape, int node, int other) {
        return hops_between(std::get<FatTree>(shape), node, other);
      },
      [](const NetworkShape& shape) { return fewest(std::get<FatTree>(shape)); },
      [](const NetworkShape& shape, int n_nodes) {
        return charged(std::get<FatTree>(shape), n_nodes);
      },
      [](const NetworkShape& shape, int n_nodes) {
        return links(std::get<FatTree>(shape), n_nodes);
      },
      hops_on_the_way,
      bytes_of_a_link,
  };
  return method;
}

}  // namespace nodewise::model::shapes
