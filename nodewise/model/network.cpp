#include "nodewise/model/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"

namespace nodewise::model {

namespace {

double ceil_div(int n, double by) {
  return std::ceil(n / by);
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

struct Hops {
  int a, b;

  int operator()(std::monostate) const { return 0; }
  int operator()(const FatTree& tree) const {
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
  int operator()(const Torus& torus) const {
    int total = 0;
    int x = a / torus.nodes_per_router;
    int y = b / torus.nodes_per_router;
    for (const int side : torus.dimensions) {
      const int apart = std::abs(x % side - y % side);
      total += std::min(apart, side - apart);
      x /= side;
      y /= side;
    }
    return total;
  }
  int operator()(const Dragonfly& d) const {
    const int x = a / d.nodes_per_router;
    const int y = b / d.nodes_per_router;
    if (x == y) return 2;
    const std::int64_t routers = std::int64_t{d.rows} * d.columns;
    if (x / routers != y / routers) return diameter(d);
    const bool same_row = x % routers / d.columns == y % routers / d.columns;
    const bool same_column = x % d.columns == y % d.columns;
    return 2 + (same_row ? 0 : 1) + (same_column ? 0 : 1);
  }
};

struct FewestHops {
  int operator()(std::monostate) const { return 0; }
  int operator()(const FatTree&) const { return 2; }
  int operator()(const Torus& torus) const { return torus.nodes_per_router > 1 ? 0 : 1; }
  int operator()(const Dragonfly& d) const { return d.nodes_per_router > 1 ? 2 : 3; }
};

struct ChargedHops {
  int n_nodes;

  int operator()(std::monostate) const { return 0; }
  int operator()(const FatTree& tree) const { return 2 * tree.levels; }
  int operator()(const Torus& torus) const {
    const auto dimensions = static_cast<int>(torus.dimensions.size());
    const auto routers = static_cast<int>(ceil_div(n_nodes, torus.nodes_per_router));
    const int side = cube_side(routers, dimensions);
    int of_all = 0;
    for (const int length : torus.dimensions) of_all += length / 2;
    return std::max(FewestHops()(torus), std::min(of_all, dimensions * (side - 1)));
  }
  int operator()(const Dragonfly& d) const { return diameter(d); }
};

struct AvailableLinks {
  int n_nodes;

  double operator()(std::monostate) const { return unlimited; }
  double operator()(const FatTree& tree) const {
    // A job that fits below one switch does not use those above.
    int level = 1;
    double below = tree.nodes_per_switch;
    while (n_nodes > below && level < tree.levels) {
      below *= tree.nodes_per_switch;
      ++level;
    }
    return 1.0 * n_nodes * level;
  }
  double operator()(const Torus& torus) const {
    return ceil_div(n_nodes, torus.nodes_per_router) * static_cast<double>(torus.dimensions.size());
  }
  double operator()(const Dragonfly& d) const {
    const double group_links = 1.0 * d.columns * (d.rows - 1) + 1.0 * d.rows * (d.columns - 1);
    const auto group = static_cast<double>(nodes_of_group(d));
    const double pairs = 0.5 * d.groups * (d.groups - 1);
    const double fewest = n_nodes + group_links * ceil_div(n_nodes, group) +
                          d.links_between_groups * std::min(std::floor(n_nodes / group), pairs);
    const double most = n_nodes + group_links * std::min(n_nodes, d.groups) +
                        d.links_between_groups * std::min(n_nodes - 1.0, pairs);
    return (fewest + most) / 2;
  }
};

void check_nodes(int n_nodes) {
  if (n_nodes < 1) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a job on {} nodes is none", n_nodes));
  }
}

}  // namespace

bool is_known(const NetworkShape& shape) {
  return !std::holds_alternative<std::monostate>(shape);
}

int hops(const NetworkShape& shape, int node, int other) {
  if (node < 0 || other < 0) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is no node", std::min(node, other)));
  }
  return node == other ? 0 : std::visit(Hops{node, other}, shape);
}

int fewest_hops(const NetworkShape& shape) {
  return std::visit(FewestHops(), shape);
}

int charged_hops(const NetworkShape& shape, int n_nodes) {
  check_nodes(n_nodes);
  return std::visit(ChargedHops{n_nodes}, shape);
}

double available_links(const NetworkShape& shape, int n_nodes) {
  check_nodes(n_nodes);
  return std::visit(AvailableLinks{n_nodes}, shape);
}

int cube_side(int n_routers, int dimensions) {
  const auto holds = [&](int side) {
    double room = 1;
    for (int d = 0; d < dimensions; ++d) room *= side;
    return room >= n_routers;
  };
  // The root may be off by round-off.
  int side = std::max(1, static_cast<int>(std::pow(n_routers, 1.0 / dimensions)) - 1);
  while (!holds(side)) ++side;
  return side;
}

int cube_hops(int router, int other, int side) {
  int total = 0;
  for (int x = router, y = other; x != y; x /= side, y /= side) {
    total += std::abs(x % side - y % side);
  }
  return total;
}

}  // namespace nodewise::model
