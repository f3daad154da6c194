#include "nodewise/comm/route/route.hpp"

#include <utility>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/within_nodes.hpp"

namespace nodewise::comm {

void require_route(const Route& route) {
  if (!route.is_automatic()) return;
  throw Error(ErrorCode::invalid_argument,
              "route automatic is no route: it must be chosen before an exchange is planned");
}

bool goes_straight(const Route& route, const mpi::Topology& topology) {
  return route->goes_straight || topology.domains().n_nodes() <= 1;
}

std::unique_ptr<route::Planner> make_planner(const Route& route, const Pattern& pattern,
                                             const mpi::Topology& topology, int rank,
                                             const route::NodeMapping& mapping) {
  require_route(route);
  if (goes_straight(route, topology)) return route::direct_planner(pattern);
  const bool one_node = topology.n_nodes() <= 1;
  auto outer =
      one_node ? route::direct_planner(pattern) : route->planner(pattern, topology, rank, mapping);
  if (!topology.has_domains()) return outer;
  const std::vector<std::size_t> stages =
      one_node ? std::vector<std::size_t>{0} : *route->on_node_stages;
  const auto inner = [make = *route->planner, mapping](const Pattern& p,
                                                       const mpi::Topology& domains, int r) {
    return make(p, domains, r, mapping);
  };
  return route::within_nodes(std::move(outer), stages, inner, topology, rank);
}

Plan make_plan(const mpi::Comm& comm, const Pattern& pattern, const Route& route) {
  require_route(route);
  if (goes_straight(route, comm.topology())) return route::direct(pattern);
  const auto& mapping = comm.settings().node_mapping;
  return route::run(
      comm, *make_planner(route, pattern, comm.topology(), comm.rank(), mapping->make(mapping)));
}

}  // namespace nodewise::comm
