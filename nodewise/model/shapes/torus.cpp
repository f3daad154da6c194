// Routers in a grid of any number of dimensions, each row of which is closed to a ring.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "nodewise/model/contention.hpp"
#include "nodewise/model/machine_parameters.hpp"
#include "nodewise/model/network.hpp"
#include "nodewise/model/network_shape.hpp"

namespace nodewise::model::shapes {

namespace {

void describe(ParameterVisitor& v, Torus& torus) {
  v.counts({"dimensions", "of a torus: routers along each"}, torus.dimensions);
  v.count(Key{"nodes_per_router", "of a torus; 1 where it is missing"}.optional(),
          torus.nodes_per_router);
}

int hops_between(const Torus& torus, int a, int b) {
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

int fewest(const Torus& torus) {
  return torus.nodes_per_router > 1 ? 0 : 1;
}

double routers_of(const Torus& torus, int n_nodes) {
  return std::ceil(n_nodes / static_cast<double>(torus.nodes_per_router));
}

int charged(const Torus& torus, int n_nodes) {
  const auto dimensions = static_cast<int>(torus.dimensions.size());
  const int side = cube_side(static_cast<int>(routers_of(torus, n_nodes)), dimensions);
  int of_all = 0;
  for (const int length : torus.dimensions) of_all += length / 2;
  return std::max(fewest(torus), std::min(of_all, dimensions * (side - 1)));
}

double links(const Torus& torus, int n_nodes) {
  return routers_of(torus, n_nodes) * static_cast<double>(torus.dimensions.size());
}

int hops_in_a_cube(const NetworkShape& shape, int n_nodes, int node, int other) {
  const auto& torus = std::get<Torus>(shape);
  const int routers = (n_nodes - 1) / torus.nodes_per_router + 1;
  const int side = cube_side(routers, static_cast<int>(torus.dimensions.size()));
  return cube_hops(node / torus.nodes_per_router, other / torus.nodes_per_router, side);
}

/// Bienz 2018, eq. 3.5.
double bytes_through_a_cube(const NetworkShape& shape, const NetworkLoad& load) {
  const auto& torus = std::get<Torus>(shape);
  const double bytes_of_node = load.bytes / load.n_nodes;
  const auto dimensions = static_cast<double>(torus.dimensions.size());
  return std::pow(load.average_hops(), dimensions) * bytes_of_node * torus.nodes_per_router;
}

}  // namespace

const ShapeMethod& torus_method() {
  static const ShapeMethod method = {
      {"torus", "routers in a grid whose rows are rings", "Bienz 2018, section 3.4.2"},
      [] { return NetworkShape(Torus()); },
      [](ParameterVisitor& v, NetworkShape& shape) { describe(v, std::get<Torus>(shape)); },
      true,
      [](const NetworkShape& shape, int node, int other) {
        return hops_between(std::get<Torus>(shape), node, other);
      },
      [](const NetworkShape& shape) { return fewest(std::get<Torus>(shape)); },
      [](const NetworkShape& shape, int n_nodes) {
        return charged(std::get<Torus>(shape), n_nodes);
      },
      [](const NetworkShape& shape, int n_nodes) { return links(std::get<Torus>(shape), n_nodes); },
      hops_in_a_cube,
      bytes_through_a_cube,
  };
  return method;
}

}  // namespace nodewise::model::shapes
