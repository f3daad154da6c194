// Exchanges that rank 0 plans for all ranks: to plan them where they run would take most of the
// time of a simulation, and is not what is timed.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "nodewise/comm/layout.hpp"
#include "nodewise/comm/virtual_ranks.hpp"

namespace nodewise::bench {

inline const Family<comm::RouteMethod>& planned_routes = comm::RouteMethod::family();

/// Rank r owns the entries [starts[r], starts[r + 1]) and needs ghosts[r], ascending.
struct WantedExchange {
  std::vector<GlobalIndex> starts;
  comm::Records<GlobalIndex> ghosts;
};

/// One rank's part.
struct PlannedExchange {
  comm::Layout layout;
  std::vector<GlobalIndex> ghosts;
  std::vector<comm::Plan> plans;  ///< one for each of planned_routes
};

/// The plans of all ranks, for each of planned_routes.
using PlansByRoute = std::vector<std::vector<comm::Plan>>;

/// Local. The plans that make_plan() would give each rank.
PlansByRoute plan_all(const WantedExchange& wanted, const mpi::Topology& topology);

/// Collective. Gives every rank its part of what rank 0 has; elsewhere nothing is read.
PlannedExchange hand_out(const std::shared_ptr<const mpi::Comm>& comm, const WantedExchange& wanted,
                         const PlansByRoute& plans);

}  // namespace nodewise::bench
