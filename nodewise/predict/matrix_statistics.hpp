// The statistics that one pass over a matrix tells.
#pragma once

#include <span>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/predict/inspection.hpp"

namespace nodewise::predict {

using Matrix = matrix::DistMatrix<double>;

/// Collective. One pass over the entries, of any matrix, and some reductions.
MatrixStatistics matrix_statistics(const Matrix& A);

/// Collective. The most rows, and the most nonzeros, that a rank has; or a virtual one, where the
/// rows of a matrix on one rank begin at `virtual_starts`, which is empty otherwise.
LargestRank largest_rank(const Matrix& A, std::span<const GlobalIndex> virtual_starts);

/// Collective. The number of entries in the longest row.
GlobalIndex longest_row(const Matrix& A);

}  // namespace nodewise::predict
