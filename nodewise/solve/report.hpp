// How a solve went.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodewise/base/options.hpp"

namespace nodewise::solve {

/// How a solve ended. Everything but `converged` comes with a diagnosis in the Report.
enum class Outcome {
  converged,
  max_iterations,             ///< the limit was reached while the residual still fell
  stagnated,                  ///< the residual has not fallen for as long as the options allow
  diverged,                   ///< the residual grew beyond divergence_factor times the first
  indefinite_matrix,          ///< CG met p.Ap <= 0
  indefinite_preconditioner,  ///< CG met r.Mr <= 0
  inconsistent,               ///< the right-hand side is not in the range of a singular matrix
  not_finite,                 ///< NaN or infinity in the right-hand side, start or iteration
  breakdown,                  ///< the method cannot go on although not converged
  interrupted                 ///< the observer asked for the end
};

/// The snake_case name, as printed in reports.
const char* to_string(Outcome outcome) noexcept;

/// The norm of r = b - A x that the stopping test takes, M being the preconditioner. Without one
/// they are the same.
enum class ResidualNorm {
  unpreconditioned,  ///< |r|, the 2-norm: every method
  preconditioned,    ///< |M r|, where KrylovMethod::knows_all_norms
  natural            ///< the root of r.Mr, for a positive definite M, likewise
};

/// The snake_case name, as in option_fields().
const char* to_string(ResidualNorm norm) noexcept;

/// A solve has converged when the norm of the residual of x, computed from x, is at most the larger
/// of tolerance times the norm of b and absolute_tolerance.
struct Options {
  double tolerance = 1e-8;
  double absolute_tolerance = 0;
  ResidualNorm norm = ResidualNorm::unpreconditioned;
  int max_iterations = 1000;
  /// Iterations without any progress that end a solve; 0: never; -1: half of max_iterations, but
  /// 300 at least. The residual of CG may stay above an early value for long while the error falls:
  /// some 600 of the 5,204 iterations that nasa4704, a shell, takes without multigrid.
  int stagnation_window = -1;
};

/// The one table behind the command line, JSON and the reference page.
std::span<const Field<Options>> option_fields();

struct Report {
  Outcome outcome = Outcome::max_iterations;
  std::string diagnosis;  ///< what happened and what to try; empty when converged
  std::string method;     ///< its name: "cg", ...
  ResidualNorm norm = ResidualNorm::unpreconditioned;  ///< the one tested
  int iterations = 0;
  double rhs_norm = 0;                ///< |b|
  double reference_norm = 0;          ///< the tested norm of b: `history` is relative to it
  double target = 0;                  ///< what `history` had to come down to
  double true_relative_residual = 0;  ///< |b - A x| / |b|, 2-norms, computed from the final x
  std::vector<double> history;        ///< relative residual norms, [0] before the first iteration
  double seconds = 0;                 ///< on this rank

  bool converged() const { return outcome == Outcome::converged; }
  /// Whether the absolute tolerance was the one to reach.
  bool target_is_absolute(const Options& options) const { return target > options.tolerance; }
};

/// Called on every rank after every iteration with its number and the relative residual norm, as
/// `history` has it. Any function of (int, double); one that returns bool ends the solve by false,
/// on whichever rank, at the price of one allreduce an iteration, in which the ranks agree; one
/// that returns bool on some ranks only is refused on all. What it throws is thrown on that rank,
/// and an Error that names it on the others. One that returns void, or none, may be any rank's own
/// affair, but must throw on every rank or on none.
class Observer {
 public:
  Observer() = default;
  template <class F>
  requires std::is_invocable_v<F&, int, double> Observer(F observe)
      : may_stop_(!std::is_void_v<std::invoke_result_t<F&, int, double>>) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, int, double>>) {
      observe_ = [f = std::move(observe)](int iteration, double relative) mutable {
        f(iteration, relative);
        return true;
      };
    } else {
      observe_ = std::move(observe);
    }
  }

  /// The same, but ranks agree on its answer after every n-th iteration only. An answer given
  /// between these must hold until then.
  Observer agreed_every(int n) && {
    interval_ = n;
    return std::move(*this);
  }
  /// The same; besides, after every iteration that another follows, change(iteration, relative) is
  /// called on every rank with the same numbers, and may make another map of the preconditioner.
  /// Refused for methods that need a fixed one, and for norms that the preconditioner is part of.
  /// Collective: it must throw on every rank or on none.
  Observer changing_preconditioner(std::function<void(int, double)> change) && {
    change_ = std::move(change);
    return std::move(*this);
  }
  bool may_stop() const { return may_stop_; }
  bool changes_preconditioner() const { return change_ != nullptr; }
  /// After how many iterations the ranks agree on its answer.
  int interval() const { return interval_; }
  /// Local. Whether this rank wants the solve to go on.
  bool operator()(int iteration, double relative) const {
    return !observe_ || observe_(iteration, relative);
  }
  /// Collective. Between two iterations.
  void change_preconditioner(int iteration, double relative) const {
    if (change_) change_(iteration, relative);
  }

 private:
  std::function<bool(int, double)> observe_;
  std::function<void(int, double)> change_;
  bool may_stop_ = false;
  int interval_ = 1;
};

}  // namespace nodewise::solve
