#include "nodewise/model/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/network_shape.hpp"

namespace nodewise::model {

namespace {

void check_nodes(int n_nodes) {
  if (n_nodes < 1) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a job on {} nodes is none", n_nodes));
  }
}

}  // namespace

bool is_known(const NetworkShape& shape) {
  return method_of(shape).is_known;
}

int hops(const NetworkShape& shape, int node, int other) {
  if (node < 0 || other < 0) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is no node", std::min(node, other)));
  }
  return node == other ? 0 : method_of(shape).hops(shape, node, other);
}

int fewest_hops(const NetworkShape& shape) {
  return method_of(shape).fewest_hops(shape);
}

int charged_hops(const NetworkShape& shape, int n_nodes) {
  check_nodes(n_nodes);
  return method_of(shape).charged_hops(shape, n_nodes);
}

double available_links(const NetworkShape& shape, int n_nodes) {
  check_nodes(n_nodes);
  return method_of(shape).available_links(shape, n_nodes);
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
