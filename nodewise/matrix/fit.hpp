// The one way to refuse matrices that do not fit each other.
#pragma once

#include <string>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Throws dimension_mismatch unless `fits`, which must be the same on every rank: no messages.
template <class T>
void require_fit(const DistMatrix<T>& A, const DistMatrix<T>& B, bool fits, const char* what) {
  if (fits) return;
  throw Error(ErrorCode::dimension_mismatch,
              std::string(what) + ": a matrix of " + std::to_string(A.rows().n_global()) + " x " +
                  std::to_string(A.cols().n_global()) + " does not fit one of " +
                  std::to_string(B.rows().n_global()) + " x " +
                  std::to_string(B.cols().n_global()) + " (or their row ranges differ)");
}

}  // namespace nodewise::matrix
