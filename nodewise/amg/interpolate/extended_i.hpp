// Extended+i interpolation.
#pragma once

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::interpolate {

/// Collective. The prolongation P from the coarse points of `splitting` to all points: extended+i,
/// De Sterck, Falgout, Nolting, Yang, "Distance-two interpolation for parallel algebraic
/// multigrid", 2008, eq. 4.10-4.11. A fine point interpolates from the coarse points it depends on
/// and from those that the fine points it depends on depend on. Rows of more than `max_entries`
/// (0: any number) keep the largest weights, entries below `truncation` times the row's largest
/// are dropped, and the others are scaled to the same row sum. Coarse points are numbered in the
/// order of the fine ones, by `coarse_points`, the layout in which each rank owns as many as
/// `splitting` has. Costs one exchange of A for vectors and one for rows.
template <class T>
matrix::DistMatrix<T> extended_i(const matrix::DistMatrix<T>& A, const Strength& strength,
                                 const coarsen::Splitting& splitting,
                                 const comm::Layout& coarse_points, int max_entries,
                                 double truncation);

}  // namespace nodewise::amg::interpolate
