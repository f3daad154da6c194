// Exchanges between any number of virtual ranks, planned in one process without MPI: what they
// would send is counted exactly for machines that are not at hand.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm {

/// Local. The patterns of all ranks, as discover_pattern() gives each its own: rank r owns the
/// indices [starts[r], starts[r + 1]) and needs ghosts[r], ascending and none its own. Memory for
/// all ghosts together; nothing of size P x P. Throws invalid_argument where the ghosts are not so.
std::vector<Pattern> virtual_patterns(std::span<const GlobalIndex> starts,
                                      const Records<GlobalIndex>& ghosts);

/// Local. The plans of all ranks, as make_plan() gives each its own.
std::vector<Plan> virtual_plans(std::span<const Pattern> patterns, const mpi::Topology& topology,
                                Route route);

/// Local. What each rank sends in one forward run of its plan.
std::vector<Traffic> virtual_traffic(std::span<const Plan> plans, const mpi::Topology& topology);

/// Local. What each rank sends when records of varying length travel the same way, their lengths
/// not counted; Traffic's entries are items of records here. Record i of all ranks together, in
/// their order, has offsets[i + 1] - offsets[i] items.
std::vector<Traffic> virtual_record_traffic(std::span<const Plan> plans,
                                            const mpi::Topology& topology,
                                            std::span<const Offset> offsets);

}  // namespace nodewise::comm
