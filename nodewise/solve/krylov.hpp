// Preconditioned Krylov methods, each as a function.
#pragma once

#include <span>
#include <vector>

#include "nodewise/solve/enlarged_cg.hpp"
#include "nodewise/solve/gmres.hpp"
#include "nodewise/solve/idr.hpp"
#include "nodewise/solve/method.hpp"
#include "nodewise/solve/operator.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise::solve {

// What all methods have in common.
//
// They are collective and solve A x = b; b and x are this rank's parts, laid out by A.layout(), and
// `preconditioner`, M, may be null. docs/methods/krylov.md compares the methods.
//
// Stopping: when the norm of the residual b - A x that Options::norm names is at most the larger of
// tolerance times that of b and absolute_tolerance (x = 0 is returned at once for b = 0 and a
// finite guess). When the recurrence of a method passes the test the residual is computed from x,
// and iteration starts afresh from it where it is still too large; after two such starts that did
// not halve it the solve has `stagnated`: the tolerance is below the attainable accuracy.
//
// x holds the initial guess and receives the solution. After a failure it holds, of finite entries,
// an iterate whose residual by the method's recurrences is at most a tenth above the smallest that
// was seen, the last iterate, the initial guess or zero, whichever has the smallest residual in
// truth: never a larger one than the initial guess or zero. A solve that max_iterations or the
// observer ends leaves the last iterate, unless the first of these or the initial guess has half
// its residual. The initial guess itself where that has no finite residual.
//
// Errors: dimension_mismatch and invalid_argument (options out of range or not the same on every
// rank, a norm that the method does not know, an x that overlaps b, a preconditioner that says that
// it is not as the method needs it: Operator::broken_symmetry(), is_fixed()), thrown alike on every
// rank.
// What an operator throws must be thrown on every rank. They never throw for a numerical reason:
// see Report::outcome, the same on every rank.
//
// An operator need not be linear to the last bit, but cg(), pipelined_cg(), enlarged_cg(),
// minres(), gmres(), bicgstab() and idr() rely on a preconditioner that is the same map at every
// call; flexible_cg(), fgmres(), gcr() and stationary() do not
// (KrylovFacts::needs_fixed_preconditioner): the observer may change it between their iterations
// (Observer::changing_preconditioner()).

/// Conjugate gradients (Hestenes, Stiefel 1952; Saad 2003, algorithm 9.1) for symmetric positive
/// (semi)definite A and symmetric positive definite M.
///
/// Cost of an iteration: one product, one preconditioner and two allreduces (p.Ap; r.z with r.r), a
/// third where the iteration is likely to be the last, which saves a preconditioner application.
/// Four vectors; one more where the residual has risen.
template <class T>
Report cg(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
          std::span<T> x, const Options& options, const Observer& observe = {}) {
  return solve_by<T>("cg", A, preconditioner, b, x, options, observe);
}

/// cg() for `width` right-hand sides at once: as many systems, one report each, that share
/// every product, application of M and reduction. B and X are this rank's rows x width, row-major;
/// each column is solved as cg() would, and one that has ended waits for the others, its columns
/// zero. The observer hears of the largest residual of those that went on, and may end all. Throws
/// invalid_argument unless 1 <= width <= 64.
///
/// Cost: messages and reductions as many as in cg() of the system that takes the most iterations,
/// but longer (Operator::apply_block), and one product, of those systems alone, more where some are
/// verified before others. An initial guess that is not zero costs each system a product, a norm
/// with the preconditioner an application at the start. Six vectors a system.
template <class T>
std::vector<Report> simultaneous_cg(const Operator<T>& A, const Operator<T>* preconditioner,
                                    std::span<const T> B, std::span<T> X, int width,
                                    const Options& options, const Observer& observe = {});

/// cg() for an M that may change from step to step or is not quite symmetric: each direction is
/// made conjugate to the one before by the formula of Polak and Ribiere (Golub, Ye 1999; Notay
/// 2000, with one direction kept). One dot product more, in a reduction that there is anyway.
template <class T>
Report flexible_cg(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
                   std::span<T> x, const Options& options, const Observer& observe = {}) {
  return solve_by<T>("flexible_cg", A, preconditioner, b, x, options, observe);
}

/// cg() with one allreduce an iteration, which goes on while the preconditioner and the product
/// of the next iteration are computed (Ghysels, Vanroose 2014, algorithm 4): for many ranks, where
/// waiting for reductions takes longer than adding vectors. What its longer recurrences lose in
/// accuracy is given back by computing all vectors anew now and then (residual replacement: Cools,
/// Yetkin, Agullo, Giraud, Vanroose 2018), at the price of three products and two preconditioners,
/// and one product for the residual.
///
/// Cost of an iteration: one product, one preconditioner and one nonblocking allreduce; one
/// preconditioner and product more at the end. Nine vectors, six without preconditioner.
template <class T>
Report pipelined_cg(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
                    std::span<T> x, const Options& options, const Observer& observe = {}) {
  return solve_by<T>("pipelined_cg", A, preconditioner, b, x, options, observe);
}

/// Conjugate gradients in an enlarged Krylov space (Grigori, Moufawad, Nataf 2016): M r is split
/// over EnlargedCgOptions::enlarging_factor ranges of rows, t, each part is a direction of its own,
/// and x moves in the space of all of them, so that the error is no larger than that of cg() after
/// as many iterations, up to round-off. The next directions are M A times these, made conjugate to
/// the last two blocks and A-orthonormal (Orthodir; Grigori, Tissot 2019): what the residual needs
/// of a direction does not matter to those that follow. Each block is turned so that x moves along
/// its first direction alone, and M r, which differs from M A times that by what is known, takes
/// its place. Directions that depend on others to about the root of round-off, or are null vectors
/// up to that, are left out; where none is left the iteration starts again from the true residual.
/// For many ranks, where a message takes about as long for t numbers as for one.
///
/// Cost of an iteration: one product and one preconditioner for t vectors at once
/// (Operator::apply_block) and two allreduces of 2 t^2 + 3 and 2 t^2 + 3 t numbers, a third where
/// the iteration is likely to be the last; 16 t^2 operations a row beside. 5 t + 5 vectors.
template <class T>
Report enlarged_cg(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
                   std::span<T> x, const Options& options, const Observer& observe = {},
                   const EnlargedCgOptions& own = {}) {
  Choice<KrylovMethod> method("enlarged_cg");
  method.options<EnlargedCgOptions>() = own;
  return solve_by<T>(method, A, preconditioner, b, x, options, observe);
}

/// The minimal residual method (Paige, Saunders 1975; with a preconditioner: Elman, Silvester,
/// Wathen 2014, chapter 4) for symmetric A, definite or not, singular ones included, and
/// symmetric positive definite M. It minimises the natural norm of the residual; the other norms
/// are followed by a recurrence. Where there is no solution it ends at a least-squares solution, by
/// the size of M A r (Choi, Paige, Saunders 2011).
///
/// Cost of an iteration: one product, one preconditioner, two allreduces; one product,
/// preconditioner and allreduce more at the start, for the round-off of M A. Seven vectors.
template <class T>
Report minres(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
              std::span<T> x, const Options& options, const Observer& observe = {}) {
  return solve_by<T>("minres", A, preconditioner, b, x, options, observe);
}

/// Restarted GMRES (Saad, Schultz 1986) preconditioned from the right, so that the residual it
/// minimises is that of A x = b, for any A. Singular systems that have a solution are solved too.
/// The true residual is computed when the recurrence has converged and at every restart; a whole
/// cycle without any gain ends the solve. Tests the unpreconditioned norm only.
///
/// Cost of a step: one product, one preconditioner and two allreduces (classical Gram-Schmidt,
/// twice); one preconditioner more at the end of a cycle, where x is formed. One vector for each
/// step of a cycle, taken as the basis grows, eight at a time, and four.
template <class T>
Report gmres(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
             std::span<T> x, const Options& options, const Observer& observe = {},
             const GmresOptions& own = {}) {
  Choice<KrylovMethod> method("gmres");
  method.options<GmresOptions>() = own;
  return solve_by<T>(method, A, preconditioner, b, x, options, observe);
}

/// The same for an M that may change from step to step (Saad 1993): the preconditioned vectors are
/// kept. Two vectors for each step of a cycle, and no preconditioner more at its end.
template <class T>
Report fgmres(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
              std::span<T> x, const Options& options, const Observer& observe = {},
              const GmresOptions& own = {}) {
  Choice<KrylovMethod> method("fgmres");
  method.options<GmresOptions>() = own;
  return solve_by<T>(method, A, preconditioner, b, x, options, observe);
}

/// Stabilised biconjugate gradients (van der Vorst 1992) preconditioned from the right, for any A.
/// Where it breaks down, iteration starts afresh from the true residual, against another shadow
/// residual; three times without any gain end the solve. Tests the unpreconditioned norm only.
///
/// Cost of an iteration: two products, two preconditioners and three allreduces. Seven vectors,
/// however many iterations.
template <class T>
Report bicgstab(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
                std::span<T> x, const Options& options, const Observer& observe = {}) {
  return solve_by<T>("bicgstab", A, preconditioner, b, x, options, observe);
}

/// Induced dimension reduction, IDR(s) (Sonneveld, van Gijzen 2008), in its biorthogonal form (van
/// Gijzen, Sonneveld 2011, algorithm 1), preconditioned from the right, for any A: each s + 1
/// products bring the residual into a space that is smaller by s, the shadow space's dimension. In
/// exact arithmetic it ends after n + n / s products, where GMRES takes n. The shadow space is
/// random, by the global numbers of the rows. Where the residual is nearly orthogonal to its image
/// the step into the next space is lengthened (Sleijpen, van der Vorst 1995). Where it breaks down,
/// iteration starts afresh from the true residual, with another shadow space; three times without
/// any gain end the solve. Tests the unpreconditioned norm only.
///
/// Cost of an iteration: one product, one preconditioner and two allreduces. 3 s + 3 vectors,
/// however many iterations.
template <class T>
Report idr(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
           std::span<T> x, const Options& options, const Observer& observe = {},
           const IdrOptions& own = {}) {
  Choice<KrylovMethod> method("idr");
  method.options<IdrOptions>() = own;
  return solve_by<T>(method, A, preconditioner, b, x, options, observe);
}

/// x += M (b - A x): the preconditioner by itself, a multigrid cycle after the other. M may be any
/// map.
///
/// Cost of an iteration: one product, one preconditioner, one allreduce. Three vectors.
template <class T>
Report stationary(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
                  std::span<T> x, const Options& options, const Observer& observe = {}) {
  return solve_by<T>("stationary", A, preconditioner, b, x, options, observe);
}

}  // namespace nodewise::solve
