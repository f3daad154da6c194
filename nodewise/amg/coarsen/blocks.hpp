// What a splitting of each rank's own block has to know of the blocks, real or virtual.
#pragma once

#include <algorithm>
#include <functional>
#include <span>

#include "nodewise/amg/coarsen/splitting.hpp"

namespace nodewise::amg::coarsen {

/// Local. The coarse points that depend strongly on nothing outside their block where each block is
/// split by itself; all others are undecided. `split` gets the strength without what couples rows
/// of different `blocks` on this rank (starts of ranges of local rows and the end of the last;
/// none: the rank is one block).
template <class T>
Splitting interior_coarse_points(const matrix::DistMatrix<T>& A, const Strength& strength,
                                 std::span<const GlobalIndex> blocks,
                                 const std::function<Splitting(const Strength&)>& split);

}  // namespace nodewise::amg::coarsen
