// The terms that the l1 form of hybrid Gauss-Seidel by rows adds to a diagonal.
#pragma once

#include <cmath>

#include "nodewise/amg/relax/row_scales.hpp"

namespace nodewise::amg::relax {

/// Local. The couplings of row i, with [begin, end) at rows of its own thread, to rows of other
/// threads and ranks.
template <class T>
T outside_sum(const CouplingSums<T>& sums, const kernels::Csr<T>& on, LocalIndex i, T diagonal,
              Offset begin, Offset end) {
  return sums.off(i, diagonal) + sums.on(i, diagonal, on.begin(i), begin) +
         sums.on(i, diagonal, end, on.end(i));
}

/// Local. Returns the term for that sum s: nothing where it is small enough to converge without
/// (Baker, Falgout, Kolev, Yang 2011, remark 6.2). With a term e and the weight w, M + M^T - A has
/// (2 / w) (d + e) - d on the diagonal, which must outweigh s. With e = w s / 2 it does so by (2 /
/// w - 1) d; without e where s is at most two thirds of that. The order of the rows does not
/// matter.
template <class T>
T l1_term(T outside_sum, T diagonal, T weight) {
  const T half = outside_sum / 2;
  const T margin = (2 / weight - 1) * std::abs(diagonal);
  return half <= margin / 3 ? T{} : std::copysign(weight * half, diagonal);
}

}  // namespace nodewise::amg::relax
