// Who has copies of a level that one rank of each node has as a whole.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::amg {

/// Local. The rank that has all rows, which begin at `starts`, if one has.
std::optional<int> only_holder(std::span<const GlobalIndex> starts);

/// Local. The ranks that take part in a level of virtual ranks: those that have rows of it, which
/// begin at `starts`, and all in the finest one.
std::vector<int> ranks_of_level(std::span<const GlobalIndex> starts, int level);

/// Local. For each rank the one whose copy it goes by, of a level that `owner` has, where `ranks`
/// take part in the level above: the owner on its node, elsewhere the first of them; -1 for ranks
/// that take no part.
std::vector<int> holders_of_copies(const mpi::Topology& topology, std::span<const int> ranks,
                                   int owner);

/// Local. Those that have copies, by holders_of_copies(): of each node that takes part one, in
/// their order.
std::vector<int> ranks_with_copies(std::span<const int> holders);

/// Local. Where the rows of all copies, `rows` each, begin on each rank.
std::vector<GlobalIndex> starts_of_copies(std::span<const int> holders, GlobalIndex rows);

}  // namespace nodewise::amg
