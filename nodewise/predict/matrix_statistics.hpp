// The statistics that one pass over a matrix tells.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/predict/inspection.hpp"

namespace nodewise::predict {

using Matrix = matrix::DistMatrix<double>;

/// Collective. One pass over the entries, of any matrix, and some reductions.
MatrixStatistics matrix_statistics(const Matrix& A);

/// Collective. The number of entries in the longest row.
GlobalIndex longest_row(const Matrix& A);

}  // namespace nodewise::predict
