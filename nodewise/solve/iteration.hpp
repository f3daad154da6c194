// What the Krylov methods share: the system, the stopping tests and the report.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>

#include "nodewise/base/array.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/solve/method.hpp"

namespace nodewise::solve {

/// A residual this many times the first one ends a solve as `diverged`.
inline constexpr double divergence_factor = 1e8;
/// Progress means a residual below this times the one at the last progress.
inline constexpr double stagnation_factor = 0.999;

/// What to try where the residual of a form of conjugate gradients does not fall.
inline constexpr const char* advice_for_cg =
    "try another smoother or preconditioner, or a larger `stagnation_window`, since the residual "
    "of conjugate "
    "gradients may rest for long while the error falls";

/// Tells the observer; whether it wants the solve to go on. Local; where it may stop the solve
/// collective, one allreduce.
bool ask(const mpi::Comm& comm, const Observer& observe, int iteration, double relative);

/// What has to be the same on every rank, for the message where it is not.
inline constexpr const char* agreed_arguments =
    "solve: method, options, preconditioner and kind of observer";

/// Local. Throws invalid_argument where the two have a place in common.
template <class T>
void require_apart(std::span<const T> b, std::span<const T> x) {
  const std::less<const T*> before;
  if (b.empty() || x.empty() || !before(b.data(), x.data() + x.size()) ||
      !before(x.data(), b.data() + b.size())) {
    return;
  }
  throw Error(ErrorCode::invalid_argument, "solve: the solution overlaps the right-hand side");
}

/// For an Iteration made by one of several: what is thrown is left to the caller to agree on.
struct Unagreed {};

/// One solve in progress. Every decision is taken from globally reduced numbers, so that all ranks
/// take the same. Tests are written so that NaN never passes one.
template <class T>
class Iteration {
 public:
  /// Collective. Throws the same Error on every rank: dimension_mismatch where b or x is not of the
  /// layout's length or the preconditioner has another layout, invalid_argument for options out of
  /// range, a norm that the method does not know, or an x that overlaps b. One allreduce.
  explicit Iteration(const KrylovCall<T>& call);
  /// Local. The same without the allreduce.
  Iteration(Unagreed, const KrylovCall<T>& call);

  /// Collective. Computes |b| and r = b - A x; false where the solve is over already. A system
  /// whose |b|^2 would leave the range of double is scaled by a power of two until finish().
  /// Two allreduces; one where x is zero. A norm with the preconditioner costs another and an
  /// application, here and in residual_of().
  bool begin(std::span<T> r);
  /// What begin() sums over the ranks first: of b and x the squares and what is not finite.
  using Measures = std::array<double, 4>;
  /// Local. This rank's part of them.
  Measures measures() const;
  /// Collective. begin() where the caller has summed them: one allreduce less.
  bool begin(std::span<T> r, const Measures& sums);

  /// Collective. r = b - A x and its norm, the one that is tested, relative to that of b. One
  /// product, one allreduce.
  double true_residual(std::span<T> r) { return residual_of(x_, r); }
  /// Collective. Likewise for any x.
  double residual_of(std::span<const T> x, std::span<T> r);

  /// Local. M r of the residual that begin() or residual_of() found last, where the norm has the
  /// preconditioner in it.
  std::span<const T> preconditioned_residual() const { return preconditioned_; }

  /// Local. Of r.r, r.Mr and Mr.Mr the one that is the square of the tested norm.
  double chosen(double rr, double rz, double zz) const;

  /// Counts an iteration that left this relative residual norm; false where the solve is to end.
  /// Numbers above the tolerance only, or true residuals. Local; where the observer may stop the
  /// solve collective, one allreduce.
  bool record(double relative);

  /// Whether a residual known from a recurrence says that it is time to compute the true one.
  bool passes(double relative) const { return relative <= verify_at_; }

  /// Whether the next residual may pass, if it falls as the last ones did or a little faster: then
  /// a reduction of its own may save an application of the preconditioner.
  bool next_may_pass() const;

  /// Local. Called with a true residual after a recurrence has passed; false where it is above the
  /// tolerance and two such computations in a row have not halved it: round-off has the word.
  bool attainable(double true_relative);

  /// Ends the solve.
  void stop(Outcome outcome, std::string diagnosis);
  void stop_by_observer();
  /// Collective. After a failure that a singular system without a solution would explain: looks
  /// whether it is one, and says so. r is work space.
  void examine_range(std::span<T> r);

  /// Collective. Computes the true residual of x, undoes the scaling, writes the report. r is work
  /// space, and holds the residual afterwards.
  Report finish(std::span<T> r);
  /// Local. Whether finish() computes the true residual, which converged systems know.
  bool needs_true_residual() const {
    const bool plain = norm() == ResidualNorm::unpreconditioned;
    return !report_.history.empty() && !(report_.outcome == Outcome::converged && plain);
  }
  /// Local. finish() where the caller has computed it: its tested norm, relative to that of b, and
  /// its 2-norm; read where they are needed.
  Report finish(double relative, double r_norm);

  const Operator<T>& A() const { return A_; }
  const Operator<T>* M() const { return M_; }
  /// Collective. Mv = M v and AMv = A M v; without a preconditioner AMv = A v, and Mv is not
  /// touched.
  void apply_both(std::span<const T> v, std::span<T> Mv, std::span<T> AMv) const {
    if (M_ != nullptr) return M_->apply_with_product(A_, v, Mv, AMv);
    A_.apply(v, AMv);
  }
  const mpi::Comm& comm() const { return A_.layout().comm(); }
  std::span<const T> b() const { return b_; }
  std::span<T> x() const { return x_; }
  const Options& options() const { return options_; }
  const Report& report() const { return report_; }
  ResidualNorm norm() const { return report_.norm; }
  double rhs_norm() const { return rhs_norm_; }              ///< |b|
  double reference_norm() const { return reference_norm_; }  ///< the tested norm of b
  double target() const { return report_.target; }
  double last() const { return report_.history.back(); }
  /// Whether nothing but a limit or the observer ended the solve.
  bool was_cut_short() const {
    return report_.outcome == Outcome::max_iterations || report_.outcome == Outcome::interrupted;
  }
  /// Of x when the solve began.
  bool starts_from_zero() const { return starts_from_zero_; }
  bool at_limit() const { return report_.iterations >= options_.max_iterations; }

 private:
  void prepare(const KrylovCall<T>& call);
  bool measure_rhs(const Measures& sums);
  bool set_target();
  double measure(std::span<const T> r, double rr_local);
  void scale_system(double largest);
  bool record_first(double relative);
  std::string limit_diagnosis() const;
  std::string stagnation_diagnosis() const;

  const Operator<T>& A_;
  const Operator<T>* M_;
  std::span<const T> b_;
  std::span<T> x_;
  Options options_;
  const KrylovMethod& method_;
  const Observer& observe_;
  Report report_;
  Timer timer_;
  Array<T> scaled_b_;
  Array<T> preconditioned_;  // M r, where the norm needs it
  double scale_ = 1;         // x_ and b_ hold the caller's divided by this
  double rhs_norm_ = 0;      // of b_
  double reference_norm_ = 0;
  double verify_at_ = 0;
  double marker_ = 0;         // the residual at the last progress ...
  int marker_iteration_ = 0;  // ... and when that was
  double best_true_ = 0;      // attainable()
  int fruitless_ = 0;
  bool has_true_ = false;
  bool starts_from_zero_ = false;
};

}  // namespace nodewise::solve
