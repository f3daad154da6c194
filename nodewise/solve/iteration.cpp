#include "nodewise/solve/iteration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/base/scale.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/range_check.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// More than so many times the iterations made so far are not worth asking for.
constexpr double hopeless_factor = 100;

// Sums of squares outside of these may have lost everything to underflow or overflow.
constexpr double smallest_square = 1e-250;
constexpr double largest_square = 1e250;

template <class T>
constexpr const char* precision_name = sizeof(T) == sizeof(double) ? "double" : "single";

/// A map that is not as a method needs it seems to serve for a while, and fails or ends somewhere
/// else.
template <class T>
void check_preconditioner(const KrylovMethod& method, const Operator<T>& M) {
  if (method.needs_fixed_preconditioner && !M.is_fixed()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("solve: {} needs a preconditioner that is the same map for every "
                    "vector, and this one is not; take {}fgmres",
                    *method.name, method.needs_symmetric_preconditioner ? "flexible_cg or " : ""));
  }
  if (!method.needs_symmetric_preconditioner) return;
  const std::string broken = M.broken_symmetry();
  if (!broken.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("solve: {} needs a symmetric preconditioner, and {} makes it another; "
                            "leave that, or take gmres",
                            *method.name, broken));
  }
}

/// Another map, and with it another norm, would make the history one of several measures.
void check_change(const KrylovMethod& method, const Options& options, const Observer& observe) {
  if (!observe.changes_preconditioner()) return;
  if (method.needs_fixed_preconditioner) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("solve: {} needs a preconditioner that stays the same, and the "
                            "observer changes it",
                            *method.name));
  }
  if (options.norm == ResidualNorm::unpreconditioned) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("solve: the {} norm changes with the preconditioner, and the observer "
                          "changes that; test the unpreconditioned one",
                          to_string(options.norm)));
}

template <class T>
void check_arguments(const KrylovCall<T>& call) {
  const auto n = static_cast<std::size_t>(call.A.layout().n_local());
  if (call.b.size() != n || call.x.size() != n) {
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("solve: the matrix has {} rows on this rank, the right-hand side {} "
                            "and the solution {} entries",
                            n, call.b.size(), call.x.size()));
  }
  require_apart<T>(call.b, call.x);
  if (call.M != nullptr && !(call.M->layout() == call.A.layout())) {
    throw Error(ErrorCode::dimension_mismatch,
                "solve: the preconditioner and the matrix have different layouts");
  }
  const KrylovMethod& method = *call.method;
  if (call.M != nullptr) check_preconditioner(method, *call.M);
  check_options(call.options, option_fields());
  check_change(method, call.options, call.observe);
  if (call.method.own() != nullptr) check_options(*call.method.own());
  if (!method.knows_all_norms && call.options.norm != ResidualNorm::unpreconditioned) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("solve: {} can test the unpreconditioned norm of the residual only, "
                            "not the {} one",
                            *method.name, to_string(call.options.norm)));
  }
}

/// Of what has to be the same on every rank.
template <class T>
std::uint64_t hash_of_arguments(const KrylovCall<T>& call) {
  const int agreements = call.observe.may_stop() ? call.observe.interval() : 0;
  std::uint64_t h = hash64(call.M != nullptr ? 1 : 0, static_cast<std::uint64_t>(agreements));
  h = hash64(call.observe.changes_preconditioner() ? 1 : 0, h);
  for (const char c : call.method.name()) h = hash64(static_cast<unsigned char>(c), h);
  if (call.method.own() != nullptr) h = hash64(h, hash_of(*call.method.own()));
  return hash64(h, hash_of(call.options, option_fields()));
}

/// Who allows many iterations expects a difficult system, whose residual may rest for long.
int stagnation_window(const Options& options) {
  constexpr int least = 300;
  if (options.stagnation_window >= 0) return options.stagnation_window;
  return std::max(least, options.max_iterations / 2);
}

}  // namespace

template <class T>
Iteration<T>::Iteration(const KrylovCall<T>& call)
    : A_(call.A),
      M_(call.M),
      b_(call.b),
      x_(call.x),
      options_(call.options),
      method_(*call.method),
      observe_(call.observe) {
  std::uint64_t given = 0;
  const auto error = mpi::caught([&] {
    prepare(call);
    given = hash_of_arguments(call);
  });
  mpi::agree_on_same(comm(), error, {given, agreed_arguments});
}

template <class T>
Iteration<T>::Iteration(Unagreed, const KrylovCall<T>& call)
    : A_(call.A),
      M_(call.M),
      b_(call.b),
      x_(call.x),
      options_(call.options),
      method_(*call.method),
      observe_(call.observe) {
  prepare(call);
}

template <class T>
void Iteration<T>::prepare(const KrylovCall<T>& call) {
  check_arguments(call);
  constexpr int likely = 4095;  // a longer history finds its room on the way
  report_.history.reserve(static_cast<std::size_t>(std::min(options_.max_iterations, likely)) + 1);
  report_.method = method_.name;
  report_.true_relative_residual = nan;
  report_.target = options_.tolerance;
  if (M_ == nullptr || options_.norm == ResidualNorm::unpreconditioned) return;
  preconditioned_.resize(b_.size());
  report_.norm = options_.norm;
}

template <class T>
void Iteration<T>::stop(Outcome outcome, std::string diagnosis) {
  report_.outcome = outcome;
  report_.diagnosis = std::move(diagnosis);
}

template <class T>
void Iteration<T>::scale_system(double largest) {
  scale_ = 1 / scale_of(largest);  // a power of two, so that scaling is exact
  mpi::collectively(comm(), [&] { scaled_b_.assign(b_.begin(), b_.end()); });
  scale(1 / scale_, std::span<T>(scaled_b_));
  scale(1 / scale_, x_);
  b_ = scaled_b_;
}

template <class T>
typename Iteration<T>::Measures Iteration<T>::measures() const {
  const double bb_local = dot_local<T>(b_, b_);
  const double xx_local = dot_local<T>(x_, x_);
  // A finite sum of squares has finite terms: look closer only where it is not.
  const std::size_t bad_b = std::isfinite(bb_local) ? 0 : count_not_finite<T>(b_);
  const std::size_t bad_x = std::isfinite(xx_local) ? 0 : count_not_finite<T>(x_);
  const bool nonzero_x = xx_local != 0 || max_abs<T>(x_) != 0;
  return {bb_local, static_cast<double>(nonzero_x), static_cast<double>(bad_b),
          static_cast<double>(bad_x)};
}

/// Collective. Sets rhs_norm_; false where b or x has an entry that is not finite.
template <class T>
bool Iteration<T>::measure_rhs(const Measures& sums) {
  const auto [bb, nonzero, all_bad_b, all_bad_x] = sums;
  rhs_norm_ = std::sqrt(bb);
  if (all_bad_b + all_bad_x > 0) {
    stop(Outcome::not_finite,
         fmt::format("{} of the {} are NaN or infinite", all_bad_b > 0 ? all_bad_b : all_bad_x,
                     all_bad_b > 0 ? "right-hand side's entries" : "initial guess's entries"));
    return false;
  }
  if (bb > smallest_square && bb < largest_square) return true;
  const double largest = mpi::max(comm(), max_abs<T>(b_));
  if (largest > 0) {
    scale_system(largest);
    rhs_norm_ = std::sqrt(sum_all(comm(), dot_local<T>(b_, b_))[0]);
  } else {
    rhs_norm_ = 0;
  }
  return true;
}

/// Collective. Sets reference_norm_ and what follows from it; false where b has no such norm.
template <class T>
bool Iteration<T>::set_target() {
  reference_norm_ = 1;
  reference_norm_ = norm() == ResidualNorm::unpreconditioned ? rhs_norm_ : measure(b_, 0.0);
  report_.reference_norm = scale_ * reference_norm_;
  report_.target =
      std::max(options_.tolerance, options_.absolute_tolerance / scale_ / reference_norm_);
  // A recurrence below the unit round-off says nothing more about the true residual.
  verify_at_ =
      std::max(report_.target, 0.25 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  if (reference_norm_ > 0 && std::isfinite(reference_norm_)) return true;
  stop(Outcome::indefinite_preconditioner,
       fmt::format("the {} norm of the right-hand side is {}: the preconditioner is singular, not "
                   "positive definite or has invalid entries; test `norm unpreconditioned`",
                   to_string(norm()),
                   std::isnan(reference_norm_) ? "no number" : fmt::to_string(reference_norm_)));
  report_.reference_norm = report_.target = nan;
  return false;
}

template <class T>
bool Iteration<T>::begin(std::span<T> r) {
  Measures sums = measures();
  sum_parts(comm(), sums);
  return begin(r, sums);
}

template <class T>
bool Iteration<T>::begin(std::span<T> r, const Measures& sums) {
  if (!measure_rhs(sums)) return false;
  starts_from_zero_ = sums[1] == 0;
  report_.rhs_norm = scale_ * rhs_norm_;
  if (rhs_norm_ == 0) {
    std::fill(x_.begin(), x_.end(), T{});
    std::fill(r.begin(), r.end(), T{});
    report_.history = {0.0};
    stop(Outcome::converged, "");
    return false;
  }
  if (!set_target()) return false;
  if (starts_from_zero_) {
    xpby<T>(b_, 0.0, r);
    return record_first(1.0);
  }
  return record_first(true_residual(r));
}

template <class T>
bool Iteration<T>::record_first(double relative) {
  report_.history = {relative};
  marker_ = relative;
  if (!std::isfinite(relative)) {
    stop(Outcome::not_finite,
         "the product of the matrix with the initial guess is not finite: the matrix has NaN, "
         "infinite or huge entries");
  } else if (relative <= target()) {
    stop(Outcome::converged, "");
  } else if (at_limit()) {
    stop(Outcome::max_iterations, limit_diagnosis());
  } else {
    return true;
  }
  return false;
}

template <class T>
double Iteration<T>::residual_of(std::span<const T> x, std::span<T> r) {
  A_.apply(x, r);
  return measure(r, subtract<T>(b_, r, r));
}

/// Collective. The tested norm of r, relative to that of b. NaN where it is none.
template <class T>
double Iteration<T>::measure(std::span<const T> r, double rr_local) {
  if (norm() == ResidualNorm::unpreconditioned) {
    return std::sqrt(sum_all(comm(), rr_local)[0]) / reference_norm_;
  }
  M_->apply(r, preconditioned_);
  const std::span<const T> other = norm() == ResidualNorm::natural ? r : preconditioned_;
  return std::sqrt(sum_all(comm(), dot_local<T>(other, preconditioned_))[0]) / reference_norm_;
}

template <class T>
double Iteration<T>::chosen(double rr, double rz, double zz) const {
  if (norm() == ResidualNorm::natural) return rz;
  return norm() == ResidualNorm::preconditioned ? zz : rr;
}

bool ask(const mpi::Comm& comm, const Observer& observe, int iteration, double relative) {
  if (!observe.may_stop()) return observe(iteration, relative);
  if (iteration % observe.interval() != 0) {
    observe(iteration, relative);
    return true;
  }
  std::int64_t stops = 0;
  std::exception_ptr thrown;
  const auto error = mpi::caught([&] {
    try {
      stops = observe(iteration, relative) ? 0 : 1;
    } catch (...) {
      thrown = std::current_exception();
      throw;
    }
  });
  try {
    mpi::agree_on_sums(comm, error, std::span(&stops, 1));
  } catch (const Error&) {
    if (thrown) std::rethrow_exception(thrown);  // as the caller knows it
    throw;
  }
  return stops == 0;
}

template <class T>
void Iteration<T>::stop_by_observer() {
  stop(Outcome::interrupted, fmt::format("the observer ended the solve at a relative residual of "
                                         "{:.1e} after {} iterations",
                                         last(), report_.iterations));
}

template <class T>
bool Iteration<T>::record(double relative) {
  ++report_.iterations;
  report_.history.push_back(relative);
  const bool go_on = ask(comm(), observe_, report_.iterations, relative);
  if (!std::isfinite(relative)) {
    stop(Outcome::not_finite,
         fmt::format("the residual became {} in iteration {}: the matrix or the preconditioner "
                     "has huge or invalid entries",
                     relative, report_.iterations));
    return false;
  }
  if (relative <= target()) {
    stop(Outcome::converged, "");
    return false;
  }
  if (!go_on) {
    stop_by_observer();
    return false;
  }
  if (relative > divergence_factor * report_.history.front()) {
    stop(Outcome::diverged,
         fmt::format("the residual grew to {:.1e} times the right-hand side in {} iterations; the "
                     "matrix or the preconditioner does not suit the method: try `solver gmres`, "
                     "or another smoother or preconditioner",
                     relative, report_.iterations));
    return false;
  }
  if (relative < stagnation_factor * marker_) {
    marker_ = relative;
    marker_iteration_ = report_.iterations;
  }
  const int window = stagnation_window(options_);
  if (window > 0 && report_.iterations - marker_iteration_ >= window) {
    stop(Outcome::stagnated, stagnation_diagnosis());
    return false;
  }
  if (at_limit()) {
    stop(Outcome::max_iterations, limit_diagnosis());
    return false;
  }
  observe_.change_preconditioner(report_.iterations, relative);
  return true;
}

template <class T>
bool Iteration<T>::next_may_pass() const {
  const std::vector<double>& h = report_.history;
  const double factor = h.size() < 2 ? 0.1 : std::min(0.5, h.back() / h[h.size() - 2]);
  return passes(h.back() * factor * factor);
}

template <class T>
bool Iteration<T>::attainable(double true_relative) {
  const bool improved = !has_true_ || true_relative < 0.5 * best_true_;
  fruitless_ = improved ? 0 : fruitless_ + 1;
  best_true_ = has_true_ ? std::min(best_true_, true_relative) : true_relative;
  has_true_ = true;
  if (fruitless_ < 2) return true;
  stop(Outcome::stagnated,
       fmt::format("the attainable accuracy of {} precision for this system is about {:.1e}, and "
                   "the tolerance of {:.1e} is below it; ask for less, or scale the system",
                   precision_name<T>, best_true_, target()));
  return false;
}

namespace {

/// What the residual shrank to in each of the last iterations, two at least: the smallest of their
/// second half against that of the first, since that of conjugate gradients goes up and down.
double last_factor(std::span<const double> history) {
  const std::size_t last = std::max<std::size_t>(10, history.size() / 5);
  const std::size_t half = std::min(last, history.size()) / 2;
  const auto now = history.last(half), before = history.last(2 * half).first(half);
  const double ratio =
      *std::min_element(now.begin(), now.end()) / *std::min_element(before.begin(), before.end());
  return std::pow(ratio, 1.0 / static_cast<double>(half));
}

}  // namespace

template <class T>
std::string Iteration<T>::limit_diagnosis() const {
  const std::vector<double>& h = report_.history;
  const std::string reached =
      fmt::format("the relative residual was {:.1e} after {} iterations, the limit", h.back(),
                  report_.iterations);
  if (h.size() < 2) return reached;
  const double factor = last_factor(h);
  if (!(factor < 1) || target() == 0) {
    return reached + ", and had ceased to fall; try another preconditioner or solver";
  }
  const double missing = std::log(target() / h.back()) / std::log(factor);
  if (missing > hopeless_factor * report_.iterations) {
    return reached + ", and hardly falls any more; try another preconditioner or solver";
  }
  return fmt::format(
      "{}, and shrank to {:.{}f} % in each of the last iterations: about {:.0f} more are needed at "
      "this rate; raise `max_iterations` or try a better preconditioner",
      reached, 100 * factor, factor > 0.99 ? 1 : 0, std::ceil(std::max(1.0, missing)));
}

template <class T>
std::string Iteration<T>::stagnation_diagnosis() const {
  return fmt::format(
      "the relative residual has not fallen below {:.1e} for {} iterations; the "
      "preconditioner does not suit this matrix, or the system is singular: {}",
      marker_, report_.iterations - marker_iteration_, *method_.when_stagnated);
}

template <class T>
void Iteration<T>::examine_range(std::span<T> r) {
  switch (report_.outcome) {
    case Outcome::stagnated:
    case Outcome::diverged:
    case Outcome::indefinite_matrix:
    case Outcome::indefinite_preconditioner:
    case Outcome::breakdown:
      break;
    default:
      return;
  }
  if (report_.history.empty()) return;  // not even begun
  residual_of(x_, r);
  const RangeCheck check = check_range<T>(A_, M_, b_, r, options_.tolerance);
  if (check.outside) stop(Outcome::inconsistent, check.diagnosis());
}

template <class T>
Report Iteration<T>::finish(std::span<T> r) {
  if (!needs_true_residual()) return finish(nan, nan);
  const double relative = true_residual(r);
  const bool is_plain = norm() == ResidualNorm::unpreconditioned;
  return finish(relative, is_plain ? nan : std::sqrt(sum_all(comm(), dot_local<T>(r, r))[0]));
}

template <class T>
Report Iteration<T>::finish(double relative, double r_norm) {
  if (needs_true_residual()) {
    const bool is_plain = norm() == ResidualNorm::unpreconditioned;
    report_.true_relative_residual = is_plain ? relative : r_norm / rhs_norm_;
    // The recurrence may be the pessimist: the test is on the true residual, whatever it said.
    if (relative <= target()) stop(Outcome::converged, "");
  } else if (report_.outcome == Outcome::converged) {
    report_.true_relative_residual = last();  // computed from x as it is now
  }
  if (scale_ != 1) scale(scale_, x_);
  report_.seconds = timer_.seconds();
  return std::move(report_);
}

template class Iteration<double>;
template class Iteration<float>;

}  // namespace nodewise::solve
