// Coarsening in two stages, for coarse grids with a fraction of the usual points.
#pragma once

#include <functional>
#include <vector>

#include "nodewise/amg/coarsen/splitting.hpp"

namespace nodewise::amg::coarsen {

/// The dependences of the coarse points of a splitting, numbered by `coarse_points`, as a matrix of
/// ones, all of which are strong.
template <class T>
struct LongRange {
  matrix::DistMatrix<T> paths;
  Strength strength;
};

/// What the paths of at most two strong dependences are made of: entries of the value one.
template <class T>
struct PathSteps {
  matrix::DistMatrix<T> first;  ///< a row for each coarse point: itself and what it depends on
  matrix::DistMatrix<T> last;   ///< likewise for each point, but only coarse points
};

/// Collective. The steps between the coarse points of a splitting, numbered by `coarse_points`. One
/// exchange of vectors, and what two matrices cost.
template <class T>
PathSteps<T> path_steps(const matrix::DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting, const comm::Layout& coarse_points);

/// Collective. There is an entry (i, j) where at least `n_paths` of one or two strong dependences
/// lead from the coarse point i to another one j: Stüben, "Algebraic multigrid (AMG): an
/// introduction with applications", 1999, section 7.1 (A1: one path, A2: two). A dependence of i on
/// j itself counts as two paths (docs/decisions.md). Like the product of the steps, of which these
/// are the entries of at least n_paths: one exchange of rows over those of the first, and what the
/// new matrix costs.
template <class T>
LongRange<T> long_range_dependences(const PathSteps<T>& steps, int n_paths);

/// Collective. The same with the steps, what they cost included.
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
