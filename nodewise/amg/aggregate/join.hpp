// Points that join aggregates beside them.
#pragma once

#include <span>

#include "nodewise/amg/aggregate/aggregates.hpp"

namespace nodewise::amg::aggregate {

/// Local. Every point that is in no aggregate joins, all at once, one of those that its strong
/// neighbours are in: the one it is most connected to by the sum of the moduli of G's entries, or
/// the first. Sums that differ by less than a percent count as equal, so that round-off decides
/// nothing, and the aggregate with the lowest number is taken. ghost_aggregates are those of G's
/// ghosts; empty: such neighbours do not count. Points without strong entries are passed over.
template <class T>
void join_neighbours(const matrix::DistMatrix<T>& G, const Strength& strength,
                     std::span<const GlobalIndex> ghost_aggregates,
                     std::vector<GlobalIndex>& of_point, Joining joining = Joining::most_connected);

}  // namespace nodewise::amg::aggregate
