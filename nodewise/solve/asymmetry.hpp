// A cheap check that an operator is symmetric, as CG needs of the matrix and the preconditioner.
#pragma once

#include <cstdint>

#include "nodewise/solve/operator.hpp"

namespace nodewise::solve {

/// Collective. Returns |<M u, v> - <u, M v>| / (|M u| |v|) for vectors u, v hashed from the global
/// index, so that it does not depend on the number of ranks. It is round-off (below 1e-12 in
/// double) for a symmetric M, and otherwise, almost surely, of the order of |M - M^T| / (|M|
/// sqrt(n)). Returns 0 for M u = 0, NaN where M returns NaN. Two applications, one reduction.
template <class T>
double asymmetry(const Operator<T>& M, std::uint64_t seed = 0);

}  // namespace nodewise::solve
