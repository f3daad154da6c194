// Restarted generalised conjugate residuals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/gmres.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

int gcr_restart(const Choice<KrylovMethod>& method) {
  return method.options<GmresOptions>().restart;
}

/// Directions P with orthonormal products V = A P. Each is M r made orthogonal to those before, so
/// that r and x are at hand in every step. Where a step leaves r as it was, the next direction is
/// made of the last product instead, as in GMRES, which goes on where M r brings nothing new.
template <class T>
class Gcr {
 public:
  explicit Gcr(const KrylovCall<T>& call)
      : it_(call), best_(it_), restart_(static_cast<std::size_t>(gcr_restart(call.method))) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      r_.resize(call.b.size());
      sums_.reserve(std::min<std::size_t>(restart_, 128) + 2);
      second_.reserve(sums_.capacity());
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_.begin();
      true_ = it_.last();
      while (cycle()) {
      }
    }
    best_.restore(r_);
    it_.examine_range(r_);
    return it_.finish(r_);
  }

 private:
  enum class Step { go_on, restart, stop };

  bool cycle();
  Step extend(std::size_t j);
  bool orthogonalise(std::size_t j);
  Step verify();
  void reserve(std::size_t n);
  std::span<const Array<T>> first(const std::vector<Array<T>>& basis, std::size_t n) const {
    return std::span(basis).first(n);
  }

  Iteration<T> it_;
  Checkpoint<T> best_;
  std::size_t restart_;
  Array<T> r_;
  std::vector<Array<T>> P_, V_;
  std::vector<double> sums_, second_;
  double rr_local_ = 0;       // this rank's part of r.r
  double rr_ = 0;             // of all ranks
  double true_ = 0;           // the relative residual when it was computed last
  double largest_ratio_ = 0;  // of |A M v| to |v|
  bool is_stalled_ = false;   // the last step left r as it was
  bool is_spent_ = false;     // no direction is left
};

/// From the residual r_, which is the true one: at most `restart` steps. False where the solve is
/// over.
template <class T>
bool Gcr<T>::cycle() {
  rr_local_ = dot_local<T>(r_, r_);
  is_stalled_ = is_spent_ = false;
  Step step = Step::go_on;
  for (std::size_t j = 0; step == Step::go_on && j < restart_; ++j) step = extend(j);
  if (step == Step::stop) return false;
  if (step == Step::restart && !is_spent_) return true;
  return verify() == Step::restart;
}

/// Step j: one product, one preconditioner, two reductions.
template <class T>
typename Gcr<T>::Step Gcr<T>::extend(std::size_t j) {
  reserve(j + 1);
  const Array<T>& source = is_stalled_ && j > 0 ? V_[j - 1] : r_;
  if (it_.M() == nullptr) std::copy(source.begin(), source.end(), P_[j].begin());
  it_.apply_both(source, P_[j], V_[j]);
  if (!orthogonalise(j)) return is_spent_ ? Step::restart : Step::stop;
  const double alpha = sums_.back();
  rr_local_ = update<T>(alpha, P_[j], V_[j], it_.x(), r_);
  const double rest = std::max(0.0, rr_ - alpha * alpha);
  is_stalled_ = rest > stagnation_factor * rr_;
  if (is_stalled_) best_.keep_before({{alpha, P_[j]}});  // what follows may be along a null vector
  double relative = std::sqrt(rest) / it_.rhs_norm();
  const bool passes = it_.passes(relative);
  if (passes) {
    relative = true_ = it_.true_residual(r_);
    if (relative > it_.last() && std::isfinite(relative)) best_.keep_before({{alpha, P_[j]}});
  }
  const bool more = it_.record(relative);
  best_.note(relative);
  if (!more || (passes && !it_.attainable(relative))) return Step::stop;
  return passes ? Step::restart : Step::go_on;
}

/// Makes V_[j] orthonormal to the products before, P_[j] likewise, and sums_.back() the step along
/// it, by classical Gram-Schmidt, twice. False where the solve cannot go on, or nothing is left.
template <class T>
bool Gcr<T>::orthogonalise(std::size_t j) {
  const std::span<T> w = V_[j];
  sums_.resize(j + 2);
  second_.resize(j + 2);
  const std::span<double> column = sums_, again = second_;
  dots_with_basis<T>(first(V_, j), w, column.first(j + 1));
  column.back() = rr_local_;
  sum_parts(it_.comm(), column);
  rr_ = column.back();
  const double length = std::sqrt(column[j]);
  if (!std::isfinite(length) || !std::isfinite(rr_)) {
    it_.stop(Outcome::not_finite,
             fmt::format("the product with the matrix is not finite in iteration {}: the matrix or "
                         "the preconditioner has NaN, infinite or huge entries",
                         it_.report().iterations + 1));
    return false;
  }
  project_and_dot<T>(first(V_, j), column.first(j), w, again.first(j + 1));
  again.back() = dot_local<T>(r_, w);
  sum_parts(it_.comm(), again);
  double rest = again[j];
  for (std::size_t i = 0; i < j; ++i) {
    column[i] += again[i];
    rest -= again[i] * again[i];
  }
  // Of a null vector the product is the round-off of others.
  const double source = is_stalled_ && j > 0 ? 1.0 : std::sqrt(rr_);
  largest_ratio_ = std::max(largest_ratio_, length / source);
  const double unit = std::numeric_limits<T>::epsilon();
  const double negligible = std::max(10 * unit * length, 100 * unit * largest_ratio_ * source);
  is_spent_ = !(rest > negligible * negligible);
  if (is_spent_) return false;
  const double scale = 1 / std::sqrt(rest);
  combine<T>(first(V_, j), again.first(j), -1.0, scale, w);
  combine<T>(first(P_, j), column.first(j), -1.0, scale, P_[j]);
  column.back() = again.back() * scale;
  return true;
}

/// After a whole cycle, or where no direction is left: r_ is computed anew. Without a gain since
/// the last time the solve ends.
template <class T>
typename Gcr<T>::Step Gcr<T>::verify() {
  const double relative = it_.true_residual(r_);
  const double before = std::exchange(true_, relative);
  if (relative < stagnation_factor * before) return Step::restart;
  if (is_spent_) {
    it_.stop(Outcome::breakdown,
             fmt::format("GCR finds no further direction at a relative residual of {:.1e}: the "
                         "matrix or the preconditioner is singular; try another preconditioner",
                         relative));
  } else {
    it_.stop(Outcome::stagnated,
             fmt::format("a whole cycle of GCR did not reduce the relative residual of {:.1e}; try "
                         "a larger --restart or another preconditioner",
                         relative));
  }
  return Step::stop;
}

/// Makes room for n directions, several at a time since all ranks have to agree that there is
/// memory for them.
template <class T>
void Gcr<T>::reserve(std::size_t n) {
  constexpr std::size_t batch = 8;
  if (n <= V_.size()) return;
  const std::size_t target = std::min(restart_, V_.size() + batch);
  mpi::collectively(it_.comm(), [&] {
    P_.resize(target, Array<T>(r_.size()));
    V_.resize(target, Array<T>(r_.size()));
  });
}

template <class T>
Report solve_by_gcr(const KrylovCall<T>& call) {
  return Gcr<T>(call).run();
}

}  // namespace

const KrylovMethod& gcr_method() {
  static const KrylovMethod method = {
      {"gcr", "restarted generalised conjugate residuals, for any matrix and preconditioner",
       "Eisenstat, Elman, Schultz 1983; van der Vorst, Vuik 1994", own_options(gmres_fields)},
      {
          .title = "GCR",
          .suited_for = SuitedFor::any_matrix,
          .minimises_residual = true,
          .knows_all_norms = false,
          .needs_symmetric_preconditioner = false,
          .needs_fixed_preconditioner = false,
          .when_stagnated = "try a larger --restart, or another smoother or preconditioner",
          .cost =
              [](const Choice<KrylovMethod>& choice) {
                const int m = gcr_restart(choice);
                return KrylovCost{.longest_sum = m + 1, .vectors = 2 * m + 1};
              },
          .in_double = KrylovFunctions<double>{solve_by_gcr<double>},
          .in_float = KrylovFunctions<float>{solve_by_gcr<float>},
      }};
  return method;
}

}  // namespace nodewise::solve
