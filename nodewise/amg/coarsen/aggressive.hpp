// Coarsening in two stages, for coarse grids with a fraction of the usual points.
#pragma once

#include <functional>

#include "nodewise/amg/coarsen/splitting.hpp"

namespace nodewise::amg::coarsen {

/// A matrix on the coarse points of a splitting, numbered by `coarse_points`, and which of its
/// entries say that a point depends on another.
template <class T>
struct LongRange {
  matrix::DistMatrix<T> paths;
  Strength strength;
};

/// Collective. Entry (i, j) of `paths` is the number of paths of one or two strong dependences from
/// the coarse point i to the coarse point j; it is strong where it is at least `n_paths`: Stüben,
/// "Algebraic multigrid (AMG): an introduction with applications", 1999, section 7.1 (A1: one path,
/// A2: two). One exchange of vectors, one of rows, and what the three matrices cost that it makes.
template <class T>
LongRange<T> long_range_dependences(const matrix::DistMatrix<T>& A, const Strength& strength,
                                    const Splitting& splitting, const comm::Layout& coarse_points,
                                    int n_paths);

/// How a stage splits: a matrix, its strength, and the virtual ranks' blocks, if there are such.
template <class T>
using Splitter = std::function<Splitting(const matrix::DistMatrix<T>&, const Strength&,
                                         std::span<const GlobalIndex> blocks)>;

/// Collective. Splits with `split`, then the coarse points that gives once more with `split`, by
/// their long-range dependences. Those coarse in both stages are, and those without such a
/// dependence: nothing is there to stand for them, and fine points are interpolated from them. What
/// is left wants an interpolation of long range. Independent of the number of ranks where `split`
/// is.
template <class T>
Splitting aggressive(const matrix::DistMatrix<T>& A, const Strength& strength, int n_paths,
                     std::span<const GlobalIndex> blocks, const Splitter<T>& split);

}  // namespace nodewise::amg::coarsen
