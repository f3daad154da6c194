// Preconditioned Krylov methods.
#pragma once

#include <span>

#include "nodewise/solve/operator.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise::solve {

/// Collective. Solves A x = b by preconditioned conjugate gradients (Hestenes, Stiefel 1952; Saad
/// 2003, algorithm 9.1) for symmetric positive (semi)definite A and symmetric positive definite M.
/// x holds the initial guess and receives the best iterate. `preconditioner` may be null. The
/// stopping test is on the 2-norm of the residual b - A x relative to b (x = 0 is returned at once
/// for b = 0): when the recurrence says so the true residual is computed, and iteration goes on
/// from it where it is still too large. Never throws for a numerical reason: see Report::outcome,
/// the same on every rank. Each iteration: one product, one preconditioner, two reductions.
template <class T>
Report cg(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
          std::span<T> x, const Options& options, const Observer& observe = {});

/// Collective. Solves A x = b by restarted GMRES (Saad, Schultz 1986) preconditioned from the
/// right, in its flexible form (Saad 1993), so that the residual it minimises is that of A x = b.
/// Otherwise as cg().
template <class T>
Report gmres(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
             std::span<T> x, const Options& options, const Observer& observe = {});

}  // namespace nodewise::solve
