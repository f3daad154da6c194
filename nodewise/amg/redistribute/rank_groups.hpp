// Groups of ranks that sit near each other.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::amg {

/// Local. For each rank the rank that its rows go to when they are to be on `n_groups` ranks: its
/// group's first. Ranks have rows[r] rows; those that have none stay by themselves and count for
/// none. The rows of a node go to one of its ranks before two nodes share one. A node that is given
/// several groups splits its ranks evenly, in their order, as equally many nodes are that share a
/// rank, the first groups one larger (Gahvari et al. 2014, section 6.1). 1 <= n_groups <= the ranks
/// with rows.
std::vector<int> holders_of_rows(const mpi::Topology& topology, std::span<const GlobalIndex> rows,
                                 int n_groups);

}  // namespace nodewise::amg
