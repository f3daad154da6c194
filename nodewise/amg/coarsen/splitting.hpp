// Which points go to the coarse grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/comm/layout.hpp"

namespace nodewise::amg::coarsen {

enum : std::int8_t { fine = -1, undecided = 0, coarse = 1 };

/// One of the above for every local row.
using Splitting = std::vector<std::int8_t>;

/// Collective. The layout of the coarse grid: every rank owns the coarse points among its own. One
/// gathering of a number from each rank.
comm::Layout coarse_layout(const comm::Layout& points, const Splitting& splitting);

/// Local. The splitting that has these coarse points, ascending; and the other way round.
Splitting splitting_of(LocalIndex n_rows, std::span<const LocalIndex> coarse_rows);
std::vector<LocalIndex> places_of_coarse(const Splitting& splitting);

// Points that depend on nothing are fine in PMIS, HMIS, CLJP and Falgout's splitting: relaxation
// alone serves them, as it does the rows of boundary conditions.

/// Collective. Parallel modified independent set: De Sterck, Yang, Heys, "Reducing complexity in
/// parallel algebraic multigrid preconditioners", 2006. The random weights are hashed from (global
/// index, seed), so the splitting does not depend on the number of ranks. Points decided in `start`
/// keep their state. The paper's rounds are those of one point each; a rank here decides all that
/// it can between two exchanges. One reversed exchange of A and one of weights; then for every two
/// exchanges of states an allreduce; their number grows like log n at most. With `blocks`, as for
/// hmis(), on one rank, as many exchanges as that many ranks need.
template <class T>
Splitting pmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               Splitting start = {}, std::span<const GlobalIndex> blocks = {});

/// Collective. Hybrid MIS (same paper): the first pass of Ruge-Stüben on each rank's own block, of
/// which the coarse points without strong dependence on other ranks stay, then PMIS for the rest.
/// With `blocks`, the starts of ranges of local rows and the end of the last, each range counts as
/// a rank of its own: the splitting is that of so many ranks.
template <class T>
Splitting hmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               std::span<const GlobalIndex> blocks = {});

/// Collective. CLJP, after Cleary, Luby, Jones and Plassmann: Henson, Yang, "BoomerAMG: a parallel
/// algebraic multigrid solver and preconditioner", 2002, section 4.2. Any two fine points one of
/// which depends on the other have a coarse point that both depend on, across ranks, too, as
/// classical interpolation wants it. Weights are hashed as for pmis(): the same on any number of
/// ranks; where `fractions` are given, one in [0, 1) for each local point, these stand for the
/// hashed ones. Points decided in `start` keep their state. One exchange of strong rows; then each
/// round costs two exchanges of A, two reversed ones and an allreduce.
template <class T>
Splitting cljp(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               Splitting start = {}, std::span<const double> fractions = {});

/// Collective. Falgout's coarsening (same paper, section 4.3): both passes of Ruge-Stüben on each
/// rank's own block, of which the coarse points without strong dependence on other ranks stay, then
/// CLJP for the rest, which on one rank changes nothing. `blocks` as for hmis().
template <class T>
Splitting falgout(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
                  std::span<const GlobalIndex> blocks = {});

/// Local. The first pass of Ruge-Stüben coarsening (Ruge, Stüben 1987) on the on-process block, as
/// HMIS and Falgout begin: points are taken in the order of how many undecided points depend on
/// them, of equal ones that which has had its measure longest. Points on which nothing depends and
/// which depend on nothing stay undecided, those decided in `start` keep their state.
template <class T>
Splitting ruge_stueben_first_pass(const matrix::DistMatrix<T>& A, const Strength& strength,
                                  Splitting start = {});

/// Local. The second pass on the on-process block: makes fine points coarse until any two of the
/// block one of which depends on the other have a coarse point that both depend on. Undecided
/// points are left alone, as if they were not there.
template <class T>
void second_pass(const matrix::DistMatrix<T>& A, const Strength& strength, Splitting& splitting);

/// Local. Ruge-Stüben coarsening of each rank's block by itself, with the first pass or both.
/// Couplings between ranks are not looked at: a fine point at a rank's boundary may have no coarse
/// point to interpolate from, or none in common with a fine point of another rank (falgout() mends
/// that). To the measures `influence` is added where it is given; equal ones are taken in the
/// order that PyAMG takes, so that one pass is PyAMG's splitting. `blocks` as for hmis().
template <class T>
Splitting ruge_stueben(const matrix::DistMatrix<T>& A, const Strength& strength, int passes = 2,
                       std::span<const GlobalIndex> blocks = {},
                       std::span<const LocalIndex> influence = {});

}  // namespace nodewise::amg::coarsen
