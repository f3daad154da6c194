// Which points go to the coarse grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/amg/strength.hpp"
#include "nodewise/comm/layout.hpp"

namespace nodewise::amg::coarsen {

enum : std::int8_t { fine = -1, undecided = 0, coarse = 1 };

/// One of the above for every local row.
using Splitting = std::vector<std::int8_t>;

/// Collective. The layout of the coarse grid: every rank owns the coarse points among its own. One
/// gathering of a number from each rank.
comm::Layout coarse_layout(const comm::Layout& points, const Splitting& splitting);

/// Collective. Parallel modified independent set: De Sterck, Yang, Heys, "Reducing complexity in
/// parallel algebraic multigrid preconditioners", 2006. The random weights are hashed from (global
/// index, seed), so the splitting does not depend on the number of ranks. Points decided in `start`
/// keep their state. Each round costs three exchanges of A and an allreduce; the rounds grow like
/// log n at most.
template <class T>
Splitting pmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               Splitting start = {});

/// Collective. Hybrid MIS (same paper): the first pass of Ruge-Stüben on each rank's own block, of
/// which the coarse points without strong dependence on other ranks stay, then PMIS for the rest.
/// With `blocks`, the starts of ranges of local rows and the end of the last, each range counts as
/// a rank of its own: the splitting is that of so many ranks.
template <class T>
Splitting hmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               std::span<const GlobalIndex> blocks = {});

/// Local. The first pass of Ruge-Stüben coarsening (Ruge, Stüben 1987) on the on-process block:
/// points are taken in the order of how many undecided points depend on them. Points on which
/// nothing depends and which depend on nothing stay undecided.
template <class T>
Splitting ruge_stueben_first_pass(const matrix::DistMatrix<T>& A, const Strength& strength);

}  // namespace nodewise::amg::coarsen
