// Finds out whether a solve failed because the system has no solution.
#pragma once

#include <span>
#include <string>

#include "nodewise/solve/operator.hpp"

namespace nodewise::solve {

/// The part of a right-hand side outside the range of its matrix, as far as known.
struct RangeCheck {
  bool outside = false;  ///< a null vector v of the matrix was found that is not orthogonal to b
  double fraction = 0;   ///< |v.b| / (|v| |b|)
  double smallness = 0;  ///< |A v| / (|A| |v|), |A| being estimated from below

  std::string diagnosis() const;
};

/// Collective. For a failed solve only: looks for a v with A v = 0 and v.b != 0, which proves for a
/// symmetric A that A x = b has no solution. Conjugate gradients are started afresh from
/// `residual` = b - A x for some x; their residuals are combined to the one s of least M-norm in
/// residual + range(A), for which A M s = 0. (Minimal residual smoothing: Schönauer 1987; Weiss
/// 1994.) Says `outside` where v shows that the relative residual cannot come below
/// max(tolerance, the root of the unit round-off): a matrix singular to working precision counts.
/// Costs some 60 products and preconditioner applications at most, twice that where nothing is
/// found, and five vectors. M may be null.
template <class T>
RangeCheck check_range(const Operator<T>& A, const Operator<T>* M, std::span<const T> b,
                       std::span<const T> residual, double tolerance);

}  // namespace nodewise::solve
