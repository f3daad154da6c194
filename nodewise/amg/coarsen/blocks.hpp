// The blocks of ranks, real or virtual, as a splitting of each rank's own block sees them.
#pragma once

#include <algorithm>
#include <functional>
#include <span>

#include "nodewise/amg/coarsen/splitting.hpp"

namespace nodewise::amg::coarsen {

/// Splits from what is decided to begin with.
using BlockSplitter = std::function<Splitting(const Strength& within, Splitting start)>;

/// Local. Returns the coarse points that depend strongly on nothing outside their block where
/// `split` splits each block by itself; all others are undecided. `split` starts with the points
/// fine that depend on nothing. It gets the strength without couplings between different `blocks`
/// of rows on this rank (starts of ranges of local rows and the end of the last; none: the rank is
/// one block).
template <class T>
Splitting interior_coarse_points(const matrix::DistMatrix<T>& A, const Strength& strength,
                                 std::span<const GlobalIndex> blocks, const BlockSplitter& split);

}  // namespace nodewise::amg::coarsen
