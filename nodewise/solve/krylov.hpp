// Preconditioned Krylov methods.
#pragma once

#include <span>

#include "nodewise/solve/operator.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise::solve {

/// Collective. Solves A x = b by preconditioned conjugate gradients (Hestenes, Stiefel 1952; Saad
/// 2003, algorithm 9.1) for symmetric positive (semi)definite A and symmetric positive definite M.
/// b and x are this rank's parts, laid out by A.layout(). `preconditioner` may be null.
///
/// Stopping: on the 2-norm of the residual b - A x relative to that of b (x = 0 is returned at once
/// for b = 0). When the recurrence passes the test the true residual is computed, and iteration
/// starts afresh from it where it is still too large; after two such starts that did not halve it
/// the solve has `stagnated`: the tolerance is below the attainable accuracy.
///
/// x holds the initial guess and receives the solution. After a failure it holds an iterate of
/// finite entries whose residual is at most about twice the smallest that was seen; the initial
/// guess itself where that is not finite.
///
/// Errors: dimension_mismatch and invalid_argument (options out of range), thrown alike on every
/// rank. Never throws for a numerical reason: see Report::outcome, the same on every rank.
///
/// Cost of an iteration: one product, one preconditioner and two allreduces (p.Ap; r.z with r.r), a
/// third where the iteration is likely to be the last, which saves a preconditioner application.
template <class T>
Report cg(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
          std::span<T> x, const Options& options, const Observer& observe = {});

/// Collective. Solves A x = b by restarted GMRES (Saad, Schultz 1986) preconditioned from the
/// right, in its flexible form (Saad 1993), so that the residual it minimises is that of A x = b
/// and the preconditioner may change from step to step. Singular systems that have a solution are
/// solved too. The true residual is computed when the recurrence has converged and at every
/// restart; a whole cycle without any gain ends the solve. Arguments and errors are those of cg().
///
/// Cost of a step: one product, one preconditioner and two allreduces (classical Gram-Schmidt,
/// twice). Memory: two vectors for each step of a cycle, one without preconditioner, taken as the
/// basis grows, eight steps at a time.
template <class T>
Report gmres(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
             std::span<T> x, const Options& options, const Observer& observe = {});

}  // namespace nodewise::solve
