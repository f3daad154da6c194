#include "nodewise/predict/virtual_machine.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "nodewise/solver/method_choice.hpp"

namespace nodewise::predict {

namespace {

using comm::Route;

std::vector<Route> parse_routes(const std::string& text) {
  const std::string underscored = [&] {
    std::string copy = text;
    std::replace(copy.begin(), copy.end(), '-', '_');
    return copy + ",";
  }();
  std::vector<Route> routes;
  for (std::size_t at = 0; at < underscored.size();) {
    const std::size_t comma = underscored.find(',', at);
    const std::string name = underscored.substr(at, comma - at);
    at = comma + 1;
    const std::vector<std::string> names = comm::RouteMethod::family().names();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("`routes`: '{}' is none of {}", name, fmt::join(names, ", ")));
    }
    if (std::find(routes.begin(), routes.end(), Route(name)) != routes.end()) {
      throw Error(ErrorCode::invalid_argument, fmt::format("`routes`: {} is named twice", name));
    }
    routes.emplace_back(name);
  }
  return routes;
}

std::vector<int> node_of_ranks(const VirtualOptions& options,
                               const run::PlacementOptions& placement,
                               const partition::Placement& dealing) {
  const int n_ranks = options.virtual_ranks;
  if (!placement.node_map.empty()) return run::parse_map("node", placement.node_map, n_ranks);
  const int per_node = placement.ranks_per_node;
  if (per_node < 1) {
    throw Error(ErrorCode::invalid_argument,
                "`virtual_ranks` needs `ranks_per_node` or `node_map`, which place "
                "the ranks");
  }
  std::vector<int> nodes;
  for (int r = 0; r < n_ranks; ++r) {
    nodes.push_back((*dealing->node_of_rank)(r, n_ranks, per_node));
  }
  return nodes;
}

}  // namespace

VirtualMachine virtual_machine(const VirtualOptions& options,
                               const run::PlacementOptions& placement,
                               const partition::Placement& dealing) {
  mpi::Topology topology(node_of_ranks(options, placement, dealing));
  if (!placement.domain_map.empty()) {
    topology = topology.with_domains(
        run::parse_map("domain", placement.domain_map, options.virtual_ranks));
  }
  return {std::move(topology), parse_routes(options.routes)};
}

amg::Redistribution usual_redistribution(const mpi::Topology& topology) {
  for (int r = 1; r < topology.n_ranks(); ++r) {
    if (topology.node(r) < topology.node(r - 1)) return "none";
  }
  return solver::usual_redistribution(topology);
}

amg::Options with_every_route(amg::Options options) {
  if (options.redistribution->decide != nullptr || options.sparsification->asks_costs) {
    options.route = comm::Route("automatic");
  }
  return options;
}

}  // namespace nodewise::predict
