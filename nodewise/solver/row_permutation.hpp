// In which order the rows of a matrix are taken before it is preconditioned. The list is in
// row_permutation.cpp.
#pragma once

#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solver/scaling.hpp"

namespace nodewise::solver {

/// Which row each of this rank's becomes, and factors that go with that.
struct RowOrder {
  std::vector<GlobalIndex> numbers;
  ScaleFactors factors;  ///< of the rows where they are now
};

struct RowPermutationMethod : MethodInfo {
  /// Collective; null: rows stay where they are. Of a square matrix. Throws the same Error on every
  /// rank.
  Required<RowOrder (*)(const matrix::DistMatrix<double>& A)> find;

  /// Their list, which defines the order of help and reports.
  static Family<RowPermutationMethod>& family();
};

}  // namespace nodewise::solver
