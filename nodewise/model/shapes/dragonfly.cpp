// Groups of routers, each group linked to each other.
#include <algorithm>
#include <cmath>

#include "nodewise/model/machine_parameters.hpp"
#include "nodewise/model/network_shape.hpp"

namespace nodewise::model::shapes {

namespace {

void describe(ParameterVisitor& v, Dragonfly& d) {
  v.count({"groups", "of a dragonfly"}, d.groups);
  v.count({"rows", "of routers in a group"}, d.rows);
  v.count({"columns", "of routers in a group"}, d.columns);
  v.count({"nodes_per_router", "of a dragonfly"}, d.nodes_per_router);
  v.number(Key{"links_between_groups",
               "of a dragonfly: what the connection of two groups counts for, in links; 1 where it "
               "is missing"}
               .optional(),
           d.links_between_groups, a_number);
}

/// The longest way inside a group: along a row and a column, where there are any.
int hops_in_group(const Dragonfly& d) {
  return (d.rows > 1 ? 1 : 0) + (d.columns > 1 ? 1 : 0);
}

int diameter(const Dragonfly& d) {
  // To the router; to the one with the link; the link; on to the node's router; to the node.
  return d.groups > 1 ? 1 + hops_in_group(d) + 1 + hops_in_group(d) + 1 : 2 + hops_in_group(d);
}

std::int64_t nodes_of_group(const Dragonfly& d) {
  return std::int64_t{d.rows} * d.columns * d.nodes_per_router;
}

int hops_between(const Dragonfly& d, int a, int b) {
  const int x = a / d.nodes_per_router;
  const int y = b / d.nodes_per_router;
  if (x == y) return 2;
  const std::int64_t routers = std::int64_t{d.rows} * d.columns;
  if (x / routers != y / routers) return diameter(d);
  const bool same_row = x % routers / d.columns == y % routers / d.columns;
  const bool same_column = x % d.columns == y % d.columns;
  return 2 + (same_row ? 0 : 1) + (same_column ? 0 : 1);
}

int fewest(const Dragonfly& d) {
  return d.nodes_per_router > 1 ? 2 : 3;
}

int charged(const Dragonfly& d, int /*n_nodes*/) {
  return diameter(d);
}

double links(const Dragonfly& d, int n_nodes) {
  const double group_links = 1.0 * d.columns * (d.rows - 1) + 1.0 * d.rows * (d.columns - 1);
  const auto group = static_cast<double>(nodes_of_group(d));
  const double pairs = 0.5 * d.groups * (d.groups - 1);
  const double fewest = n_nodes + group_links * std::ceil(n_nodes / group) +
                        d.links_between_groups * std::min(std::floor(n_nodes / group), pairs);
  const double most = n_nodes + group_links * std::min(n_nodes, d.groups) +
                      d.links_between_groups * std::min(n_nodes - 1.0, pairs);
  return (fewest + most) / 2;
}

}  // namespace

const ShapeMethod& dragonfly_method() {
  static const ShapeMethod method = {
      {"dragonfly", "groups of routers, each group linked to each other",
       "Gahvari et al. 2014, section 4.2"},
      [] { return NetworkShape(Dragonfly()); },
      [](ParameterVisitor& v, NetworkShape& shape) { describe(v, std::get<Dragonfly>(shape)); },
      true,
      [](const NetworkShape& shape, int node, int other) {
        return hops_between(std::get<Dragonfly>(shape), node, other);
      },
      [](const NetworkShape& shape) { return fewest(std::get<Dragonfly>(shape)); },
      [](const NetworkShape& shape, int n_nodes) {
        return charged(std::get<Dragonfly>(shape), n_nodes);
      },
      [](const NetworkShape& shape, int n_nodes) {
        return links(std::get<Dragonfly>(shape), n_nodes);
      },
      hops_on_the_way,
      bytes_of_a_link,
  };
  return method;
}

}  // namespace nodewise::model::shapes
