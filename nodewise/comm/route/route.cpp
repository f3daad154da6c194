#include "nodewise/comm/route/route.hpp"

#include <utility>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/three_step.hpp"
#include "nodewise/comm/route/two_step.hpp"
#include "nodewise/comm/route/within_nodes.hpp"

namespace nodewise::comm {

const char* to_string(Route route) {
  switch (route) {
    case Route::direct:
      return "direct";
    case Route::two_step:
      return "two_step";
    case Route::three_step:
      return "three_step";
    case Route::automatic:
      return "automatic";
  }
  return "";
}

void require_route(Route route) {
  if (route != Route::automatic) return;
  throw Error(ErrorCode::invalid_argument,
              "route automatic is no route: it must be chosen before an exchange is planned");
}

bool goes_straight(Route route, const mpi::Topology& topology) {
  return route == Route::direct || topology.domains().n_nodes() <= 1;
}

namespace {

std::unique_ptr<route::Planner> two_levels(Route route, const Pattern& pattern,
                                           const mpi::Topology& topology, int rank) {
  return route == Route::two_step ? route::two_step(pattern, topology, rank)
                                  : route::three_step(pattern, topology, rank);
}

/// The stages in which a route has on-node messages.
std::vector<std::size_t> on_node_stages(Route route, const mpi::Topology& topology) {
  if (topology.n_nodes() <= 1) return {0};
  return route == Route::two_step ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{0, 2};
}

}  // namespace

std::unique_ptr<route::Planner> make_planner(Route route, const Pattern& pattern,
                                             const mpi::Topology& topology, int rank) {
  require_route(route);
  if (goes_straight(route, topology)) return route::direct_planner(pattern);
  auto outer = topology.n_nodes() <= 1 ? route::direct_planner(pattern)
                                       : two_levels(route, pattern, topology, rank);
  if (!topology.has_domains()) return outer;
  const auto inner = [route](const Pattern& on_node, const mpi::Topology& domains, int r) {
    return two_levels(route, on_node, domains, r);
  };
  return route::within_nodes(std::move(outer), on_node_stages(route, topology), inner, topology,
                             rank);
}

Plan make_plan(const mpi::Comm& comm, const Pattern& pattern, Route route) {
  require_route(route);
  if (goes_straight(route, comm.topology())) return route::direct(pattern);
  return route::run(comm, *make_planner(route, pattern, comm.topology(), comm.rank()));
}

}  // namespace nodewise::comm
