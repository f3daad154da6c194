// How the rows and columns of a matrix are scaled before it is preconditioned. The list is in
// scaling.cpp.
#pragma once

#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::solver {

/// A factor for each of this rank's rows, and one for each of its columns.
struct ScaleFactors {
  std::vector<double> rows, columns;
};

/// A way to scale a matrix.
struct ScalingMethod : MethodInfo {
  /// Collective; null: nothing is scaled. Factors of a square matrix, which are finite and above
  /// zero. Where it is symmetric, rows and columns have the same ones. Throws unsuitable_matrix on
  /// every rank, naming a row or column, where there are none.
  Required<ScaleFactors (*)(const matrix::DistMatrix<double>& A, bool symmetric)> find;

  /// Their list, which defines the order of help and reports.
  static Family<ScalingMethod>& family();
};

}  // namespace nodewise::solver
