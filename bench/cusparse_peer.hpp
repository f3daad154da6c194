// Products of a sparse matrix by cuSPARSE, to compare with: loaded where the machine has it, so
// that nothing is linked with it.
#pragma once

#include <string>

#include "nodewise/kernels/csr.hpp"

#include "measure.hpp"

namespace nodewise::bench {

/// Seconds of y = A x.
struct CusparseTimes {
  Spread csr;
  Spread sliced_ell;  ///< slices of 32 rows, in their order
};

/// Why there is no cuSPARSE here; empty where there is.
std::string why_no_cusparse();

/// On the current card, where there is one. Throws internal where cuSPARSE fails, or where its
/// product of ones is not the row sums.
template <class T>
CusparseTimes time_cusparse(const kernels::Csr<T>& A, int repeats);

}  // namespace nodewise::bench
