// Norms of matrix rows.
#pragma once

#include <cmath>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::amg::relax {

/// Local. The sum of the moduli of row i.
template <class T>
T absolute_sum(const kernels::Csr<T>& A, LocalIndex i) {
  T sum{};
  for (Offset k = A.begin(i); k < A.end(i); ++k) {
    sum += std::abs(A.vals[static_cast<std::size_t>(k)]);
  }
  return sum;
}

}  // namespace nodewise::amg::relax
