// The cost of giving the rows of a matrix or vector to other ranks.
#pragma once

#include <cstdint>
#include <span>

#include "nodewise/base/types.hpp"
#include "nodewise/model/exchange_cost.hpp"

namespace nodewise::model {

/// Local. Rank r has the rows [from[r], from[r + 1]) and is to have [to[r], to[r + 1]), none where
/// it is to be idle; each sends every other what that is to have of its rows, in one message, all
/// at once. `bytes_before[i]` are the bytes of all rows before row i, one entry more than rows: 8 i
/// for a vector of doubles, for a matrix what its rows are packed in. As exchange_cost(), of one
/// stage. O(ranks). Throws invalid_argument where the two do not divide the same rows among the
/// ranks of the topology, or the bytes are not those of all rows, ascending.
ExchangeCost redistribution_cost(std::span<const GlobalIndex> from, std::span<const GlobalIndex> to,
                                 std::span<const std::int64_t> bytes_before,
                                 const mpi::Topology& topology, const Machine& machine,
                                 const ExchangeCostOptions& options = {});

}  // namespace nodewise::model
