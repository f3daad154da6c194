// The one way to refuse matrices that do not fit each other.
#pragma once

#include <string>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Throws dimension_mismatch unless `fits`, which must be the same on every rank: no messages.
template <class T>
void require_fit(const DistMatrix<T>& A, const DistMatrix<T>& B, bool fits, const char* what) {
  if (fits) return;
  const auto size = [](const DistMatrix<T>& matrix) {
    return std::to_string(matrix.rows().n_global()) + " x " +
           std::to_string(matrix.cols().n_global());
  };
  throw Error(ErrorCode::dimension_mismatch,
              size(A) == size(B) ? std::string(what) + ": the rows or columns of two matrices of " +
                                       size(A) + " are split over the ranks differently"
                                 : std::string(what) + ": a matrix of " + size(A) +
                                       " does not fit one of " + size(B));
}

}  // namespace nodewise::matrix
