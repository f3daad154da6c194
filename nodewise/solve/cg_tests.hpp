// The numbers of conjugate gradients that end a solve.
#pragma once

#include "nodewise/solve/iteration.hpp"

namespace nodewise::solve {

/// Local, the same on every rank. Whether conjugate gradients can go on with this r.M r; where not,
/// the solve is stopped, and says why.
template <class T>
bool accepts_preconditioner(Iteration<T>& it, double rz);

/// Likewise with this p.A p, from which the step alpha was made.
template <class T>
bool accepts_matrix(Iteration<T>& it, double pq, double alpha);

}  // namespace nodewise::solve
