#include "nodewise/model/contention.hpp"

#include <cmath>

#include "nodewise/model/network.hpp"

namespace nodewise::model {

int contention_hops(const NetworkShape& shape, int n_nodes, int node, int other) {
  const auto* torus = std::get_if<Torus>(&shape);
  if (torus == nullptr) return hops(shape, node, other);
  const int routers = (n_nodes - 1) / torus->nodes_per_router + 1;
  const int side = cube_side(routers, static_cast<int>(torus->dimensions.size()));
  return cube_hops(node / torus->nodes_per_router, other / torus->nodes_per_router, side);
}

double bytes_per_link(const NetworkShape& shape, const NetworkLoad& load) {
  if (const auto* torus = std::get_if<Torus>(&shape)) {
    const double bytes_of_node = load.bytes / load.n_nodes;
    const auto dimensions = static_cast<double>(torus->dimensions.size());
    return std::pow(load.average_hops(), dimensions) * bytes_of_node * torus->nodes_per_router;
  }
  return is_known(shape) ? load.byte_hops / available_links(shape, load.n_nodes) : 0;
}

double contention_s(const Machine& machine, const NetworkLoad& load) {
  return machine.contention_s_per_byte_per_link * bytes_per_link(machine.network, load);
}

}  // namespace nodewise::model
