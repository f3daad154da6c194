// Preconditioned conjugate gradients.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/range_check.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// What became of a new residual.
enum class Next { stop, go_on, restart };

template <class T>
class ConjugateGradient {
 public:
  ConjugateGradient(const Operator<T>& A, const Operator<T>* M, std::span<const T> b,
                    std::span<T> x, const Options& options, const Observer& observe)
      : it_("cg", A, M, b, x, options, observe) {
    mpi::collectively(it_.comm(), [&] {
      for (Array<T>* v : {&r_, &p_, &q_}) v->resize(b.size());
      if (M != nullptr) z_.resize(b.size());
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_ = it_.last();
      while (precondition() && advance()) {
      }
    }
    restore_checkpoint();
    examine_range();
    return it_.finish(q_);
  }

 private:
  bool precondition();
  bool advance();
  Next settle(double rr);
  Next verify(double& relative);
  bool residual_needed() const;
  void keep_checkpoint(double last_step);
  void revert();
  void restore_checkpoint();
  void examine_range();
  std::span<const T> z() const { return it_.M() == nullptr ? r_ : z_; }

  Iteration<T> it_;
  Array<T> r_, p_, q_, z_;  // residual, direction, A p, M r
  double rz_ = 0;           // r.z of the last direction; 0: the next direction starts afresh
  double alpha_ = 0;        // the last step
  double rr_local_ = 0;     // this rank's part of r.r, where not yet summed over the ranks
  bool rr_pending_ = false;
  double best_ = 0;  // the smallest relative residual so far
  Array<T> checkpoint_;
  double checkpoint_residual_ = std::numeric_limits<double>::infinity();
};

/// z = M r, the test on r.r if that is still pending, and p = z + beta p. One preconditioner
/// application and one reduction; false where the solve is over.
template <class T>
bool ConjugateGradient<T>::precondition() {
  double rz = 0;
  for (bool restarted = true; restarted;) {
    restarted = false;
    if (it_.M() != nullptr) it_.M()->apply(r_, z_);
    const double rz_local = dot_local<T>(r_, z());
    const auto [sum_rz, rr] = sum_all(it_.comm(), rz_local, rr_local_);
    rz = sum_rz;
    if (rr_pending_) {
      const Next next = settle(rr);
      if (next == Next::stop) return false;
      restarted = next == Next::restart;  // r is another now
    }
  }
  if (!std::isfinite(rz)) {
    it_.stop(Outcome::not_finite,
             fmt::format("the preconditioner returned NaN or infinite values in iteration {}",
                         it_.report().iterations + 1));
    return false;
  }
  if (!(rz > 0)) {
    it_.stop(Outcome::indefinite_preconditioner,
             fmt::format("r.Mr = {:.2e} in iteration {}: the preconditioner is not positive "
                         "definite, as CG needs it; use --solver gmres, or another smoother",
                         rz, it_.report().iterations + 1));
    return false;
  }
  xpby<T>(z(), rz_ == 0 ? 0.0 : rz / rz_, p_);
  rz_ = rz;
  return true;
}

/// q = A p and the step along p. One product and one reduction, one more where residual_needed().
template <class T>
bool ConjugateGradient<T>::advance() {
  it_.A().apply(p_, q_);
  const auto [pq, qq] = sum_all(it_.comm(), dot_local<T>(p_, q_), dot_local<T>(q_, q_));
  alpha_ = rz_ / pq;
  if (!std::isfinite(pq) || (pq > 0 && !std::isfinite(alpha_))) {
    it_.stop(Outcome::not_finite,
             fmt::format("p.Ap = {:.2e} in iteration {}: the matrix or the preconditioner has NaN, "
                         "infinite or huge entries",
                         pq, it_.report().iterations + 1));
    return false;
  }
  if (!(pq > 0)) {
    it_.stop(Outcome::indefinite_matrix,
             fmt::format("p.Ap = {:.2e} in iteration {}: the matrix is not positive definite, as "
                         "CG needs it; use --solver gmres",
                         pq, it_.report().iterations + 1));
    return false;
  }
  // |r - alpha q| >= alpha |q| - |r|: a step so bad that it could not be undone accurately.
  constexpr double leap = 100;
  if (alpha_ * std::sqrt(qq) > leap * it_.last() * it_.rhs_norm()) keep_checkpoint(0.0);
  rr_local_ = update<T>(alpha_, p_, q_, it_.x(), r_);
  rr_pending_ = true;
  if (!residual_needed()) return true;
  return settle(sum_all(it_.comm(), rr_local_)[0]) != Next::stop;
}

/// Whether to spend a reduction on r.r before the preconditioner is applied, because this may be
/// the last iteration, or whether r.r can wait for the reduction of r.z. Without a preconditioner
/// nothing is lost by waiting, but for the last iteration allowed.
template <class T>
bool ConjugateGradient<T>::residual_needed() const {
  const std::vector<double>& h = it_.report().history;
  if (it_.report().iterations + 1 >= it_.options().max_iterations) return true;
  if (it_.M() == nullptr) return false;
  const double factor = h.size() < 2 ? 0.1 : std::min(0.5, h.back() / h[h.size() - 2]);
  return it_.passes(h.back() * factor * factor);
}

/// Takes the new r.r: verifies, records, keeps a checkpoint.
template <class T>
Next ConjugateGradient<T>::settle(double rr) {
  rr_pending_ = false;
  double relative = std::sqrt(rr) / it_.rhs_norm();
  Next next = Next::go_on;
  if (it_.passes(relative)) next = verify(relative);
  if (next == Next::go_on && relative > it_.last() && std::isfinite(relative)) {
    keep_checkpoint(alpha_);
  }
  const bool more = it_.record(relative);
  if (!std::isfinite(relative)) revert();
  if (relative < best_) best_ = relative;
  if (more && next == Next::restart && !it_.attainable(relative)) return Next::stop;
  return more ? next : Next::stop;
}

/// The recurrence says converged. Replaces it by the true residual and starts afresh from that.
template <class T>
Next ConjugateGradient<T>::verify(double& relative) {
  relative = it_.true_residual(r_);
  rz_ = 0;
  return Next::restart;
}

/// The residual begins to rise: keeps the iterate before the last step (of length last_step along
/// p), if it is the best and the residual of the checkpoint kept is at least twice as large. This
/// happens a few times in a solve at most.
template <class T>
void ConjugateGradient<T>::keep_checkpoint(double last_step) {
  if (it_.last() > best_ || !(2 * best_ <= checkpoint_residual_)) return;
  const std::span<const T> x = it_.x();
  if (checkpoint_residual_ == std::numeric_limits<double>::infinity()) {
    mpi::collectively(it_.comm(), [&] { checkpoint_.resize(x.size()); });
  }
  std::copy(x.begin(), x.end(), checkpoint_.begin());
  if (last_step != 0) axpy<T>(-last_step, p_, checkpoint_);
  checkpoint_residual_ = best_;
}

/// The last step overflowed: undoes it, and where even that is impossible starts from zero.
template <class T>
void ConjugateGradient<T>::revert() {
  const std::span<T> x = it_.x();
  axpy<T>(-alpha_, p_, x);
  if (sum_all(it_.comm(), count_not_finite<T>(x))[0] > 0) std::fill(x.begin(), x.end(), T{});
}

/// Where the solve failed: the checkpoint becomes x if the true residual of x is more than twice as
/// large. (Otherwise the last iterate is the better one in the norm that CG minimises.)
template <class T>
void ConjugateGradient<T>::restore_checkpoint() {
  if (it_.report().converged() || std::isinf(checkpoint_residual_)) return;
  if (it_.true_residual(q_) <= 2 * checkpoint_residual_) return;
  std::copy(checkpoint_.begin(), checkpoint_.end(), it_.x().begin());
}

/// A singular system without a solution shows as a residual that does not vanish: says so.
template <class T>
void ConjugateGradient<T>::examine_range() {
  const Outcome outcome = it_.report().outcome;
  if (outcome != Outcome::stagnated && outcome != Outcome::diverged &&
      outcome != Outcome::indefinite_matrix && outcome != Outcome::indefinite_preconditioner) {
    return;
  }
  it_.true_residual(r_);
  const RangeCheck check = check_range<T>(it_.A(), it_.M(), it_.b(), r_, it_.options().tolerance);
  if (check.outside) it_.stop(Outcome::inconsistent, check.diagnosis());
}

}  // namespace

template <class T>
Report cg(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
          std::span<T> x, const Options& options, const Observer& observe) {
  const mpi::Scope scope(A.layout().comm(), "vector_updates", mpi::no_level);
  return ConjugateGradient<T>(A, preconditioner, b, x, options, observe).run();
}

template Report cg(const Operator<double>&, const Operator<double>*, std::span<const double>,
                   std::span<double>, const Options&, const Observer&);
template Report cg(const Operator<float>&, const Operator<float>*, std::span<const float>,
                   std::span<float>, const Options&, const Observer&);

}  // namespace nodewise::solve
