// The stabilised biconjugate gradients, preconditioned from the right.
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// Breakdowns in a row without any gain that end a solve.
constexpr int most_breakdowns = 3;

template <class T>
class BiCgStab {
 public:
  explicit BiCgStab(const KrylovCall<T>& call) : it_(call), best_(it_) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      for (Array<T>* v : {&r_, &shadow_, &p_, &v_, &t_, &Ms_}) v->resize(call.b.size());
      if (call.M != nullptr) Mp_.resize(call.b.size());
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_.begin();
      at_breakdown_ = it_.last();
      begin_with(r_);
      while (advance()) {
      }
    }
    best_.restore(t_);
    it_.examine_range(t_);
    return it_.finish(t_);
  }

 private:
  bool advance();
  bool first_half();
  bool second_half();
  bool settle(double rr);
  bool next_direction(double shadow_r, double rr);
  bool recover(const char* vanished);
  void begin_with(std::span<const T> shadow);
  bool stop_not_finite();
  std::span<const T> Mp() const { return it_.M() == nullptr ? p_ : Mp_; }

  Iteration<T> it_;
  Checkpoint<T> best_;
  Array<T> r_;                    // residual; halfway through an iteration s
  Array<T> shadow_;               // what the residuals are made biorthogonal to
  Array<T> p_, v_, t_, Mp_, Ms_;  // direction, A M p, A M s, M p, M s
  double rho_ = 0;                // shadow.r
  double shadow_norm_ = 0, r_norm_ = 0;
  double alpha_ = 0, omega_ = 0;  // the lengths of the two halves of a step
  double at_breakdown_ = 0;       // the relative residual at the last breakdown
  int breakdowns_ = 0;            // since the last gain
  bool restarted_ = false;        // the next iteration starts afresh already
};

/// A dot product that is nothing but round-off.
template <class T>
bool vanishes(double product, double norm_a, double norm_b) {
  constexpr double round_off = 10 * static_cast<double>(std::numeric_limits<T>::epsilon());
  return !(std::abs(product) > round_off * norm_a * norm_b);
}

/// Starts afresh from r_. One reduction.
template <class T>
void BiCgStab<T>::begin_with(std::span<const T> shadow) {
  xpby<T>(shadow, 0.0, shadow_);
  xpby<T>(r_, 0.0, p_);
  const auto [rho, rr, ss] = sum_all(it_.comm(), dot_local<T>(shadow_, r_), dot_local<T>(r_, r_),
                                     dot_local<T>(shadow_, shadow_));
  rho_ = rho;
  r_norm_ = std::sqrt(rr);
  shadow_norm_ = std::sqrt(ss);
}

/// One iteration: two products, two applications of the preconditioner, three reductions.
template <class T>
bool BiCgStab<T>::advance() {
  restarted_ = false;
  return first_half() && (restarted_ || second_half());
}

/// s = r - alpha A M p, in the place of r; x does not move yet.
template <class T>
bool BiCgStab<T>::first_half() {
  it_.apply_both(p_, Mp_, v_);
  const auto [shadow_v, vv] = sum_all(it_.comm(), dot_local<T>(shadow_, v_), dot_local<T>(v_, v_));
  if (!std::isfinite(shadow_v) || !std::isfinite(vv)) return stop_not_finite();
  if (vanishes<T>(shadow_v, shadow_norm_, std::sqrt(vv))) return recover("r~.AMp");
  alpha_ = rho_ / shadow_v;
  if (!std::isfinite(alpha_)) return recover("r~.AMp");
  constexpr double leap = 100;  // so long a step could not be undone accurately
  if (std::abs(alpha_) * std::sqrt(vv) > leap * r_norm_) best_.keep_before({});
  axpy<T>(-alpha_, v_, r_);
  return true;
}

/// x += alpha M p + omega M s and r = s - omega A M s, omega making r as short as it can be.
template <class T>
bool BiCgStab<T>::second_half() {
  if (it_.M() == nullptr) xpby<T>(r_, 0.0, Ms_);
  it_.apply_both(r_, Ms_, t_);
  const auto [ts, tt, ss] =
      sum_all(it_.comm(), dot_local<T>(t_, r_), dot_local<T>(t_, t_), dot_local<T>(r_, r_));
  axpy<T>(alpha_, Mp(), it_.x());
  if (!std::isfinite(ts) || !std::isfinite(tt)) {
    // The first half stands on its own.
    if (!std::isfinite(ss)) best_.undo({{alpha_, Mp()}});
    return stop_not_finite();
  }
  const bool broken = vanishes<T>(ts, std::sqrt(tt), std::sqrt(ss));
  omega_ = broken ? 0.0 : ts / tt;
  axpy<T>(omega_, Ms_, it_.x());
  axpy<T>(-omega_, t_, r_);
  const auto [rr, shadow_r] = sum_all(it_.comm(), dot_local<T>(r_, r_), dot_local<T>(shadow_, r_));
  if (!settle(rr)) return false;
  if (restarted_) return true;
  return broken ? recover("AMs.s") : next_direction(shadow_r, rr);
}

/// Records the new residual. One that passes the test is replaced by the true one, and iteration
/// starts afresh from that where it is too large.
template <class T>
bool BiCgStab<T>::settle(double rr) {
  double relative = std::sqrt(rr) / it_.reference_norm();
  const bool verified = it_.passes(relative);
  if (verified) relative = it_.true_residual(r_);
  if (!verified && relative > it_.last() && std::isfinite(relative)) {
    best_.keep_before({{alpha_, Mp()}, {omega_, Ms_}});
  }
  const bool more = it_.record(relative);
  if (!std::isfinite(relative)) best_.undo({{alpha_, Mp()}, {omega_, Ms_}});
  best_.note(relative);
  if (!more || !verified) return more;
  if (!it_.attainable(relative)) return false;
  restarted_ = true;
  begin_with(r_);
  return true;
}

/// p = r + beta (p - omega A M p).
template <class T>
bool BiCgStab<T>::next_direction(double shadow_r, double rr) {
  r_norm_ = std::sqrt(rr);
  if (vanishes<T>(shadow_r, shadow_norm_, r_norm_)) return recover("r~.r");
  const double beta = shadow_r / rho_ * (alpha_ / omega_);
  if (!std::isfinite(beta)) return recover("r~.r");
  rho_ = shadow_r;
  axpy<T>(-omega_, v_, p_);
  xpby<T>(r_, beta, p_);
  return true;
}

/// A breakdown: starts afresh from the true residual, against a random shadow, which is orthogonal
/// to nothing by chance. False, with a diagnosis, where that has not helped several times.
template <class T>
bool BiCgStab<T>::recover(const char* vanished) {
  const double relative = it_.true_residual(r_);
  const bool gained = relative < stagnation_factor * at_breakdown_;
  breakdowns_ = gained ? 1 : breakdowns_ + 1;
  if (gained) at_breakdown_ = relative;
  if (breakdowns_ > most_breakdowns || !std::isfinite(relative)) {
    it_.stop(Outcome::breakdown,
             fmt::format("BiCGStab broke down at a relative residual of {:.1e}: {} vanished, again "
                         "after {} fresh starts; use `solver gmres`",
                         relative, vanished, most_breakdowns));
    return false;
  }
  const comm::Layout& layout = it_.A().layout();
  for (std::size_t i = 0; i < shadow_.size(); ++i) {
    const auto key = static_cast<std::uint64_t>(layout.to_global(static_cast<LocalIndex>(i)));
    shadow_[i] = static_cast<T>(hash_uniform(key, static_cast<std::uint64_t>(breakdowns_)) - 0.5);
  }
  restarted_ = true;
  begin_with(shadow_);
  return true;
}

template <class T>
bool BiCgStab<T>::stop_not_finite() {
  it_.stop(Outcome::not_finite,
           fmt::format("a product is not finite in iteration {}: the matrix or the preconditioner "
                       "has NaN, infinite or huge entries",
                       it_.report().iterations + 1));
  return false;
}

template <class T>
Report solve_by_bicgstab(const KrylovCall<T>& call) {
  return BiCgStab<T>(call).run();
}

}  // namespace

const KrylovMethod& bicgstab_method() {
  static const KrylovMethod method = {
      {"bicgstab", "stabilised biconjugate gradients, for any matrix, with seven vectors",
       "van der Vorst 1992"},
      {
          .title = "BiCGStab",
          .suited_for = SuitedFor::any_matrix,
          .minimises_residual = false,
          .knows_all_norms = false,
          .needs_symmetric_preconditioner = false,
          .needs_fixed_preconditioner = true,
          .when_stagnated = "try `solver gmres`, or another smoother or preconditioner",
          .cost =
              [](const Choice<KrylovMethod>&) {
                return KrylovCost{
                    .products = 2, .preconditioners = 2, .allreduces = 3, .vectors = 7};
              },
          .in_double = KrylovFunctions<double>{solve_by_bicgstab<double>},
          .in_float = KrylovFunctions<float>{solve_by_bicgstab<float>},
      }};
  return method;
}

}  // namespace nodewise::solve
