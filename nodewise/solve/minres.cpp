// The minimal residual method for symmetric matrices, definite or not.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// The QR factorisation of the tridiagonal matrix of Lanczos, a column at a time: two rotations
/// reach into a column, a third makes its last entry zero.
struct Rotations {
  double c = 1, s = 0, c_before = 1, s_before = 0;

  /// A column of R, from the top, and |M A r| / |r| in the norms of Lanczos for the r before it,
  /// which is zero where that r cannot be reduced.
  struct Column {
    double two_above, above, diagonal, reducible;
  };
  /// The next column of the tridiagonal matrix: beta, alpha, beta_next from the top.
  Column append(double beta, double alpha, double beta_next) {
    const double mixed = c_before * beta;
    const double rest = c * alpha - s * mixed;
    const Column column{s_before * beta, s * alpha + c * mixed, std::hypot(rest, beta_next),
                        std::hypot(rest, c * beta_next)};
    c_before = c;
    s_before = s;
    c = column.diagonal == 0 ? 1 : rest / column.diagonal;
    s = column.diagonal == 0 ? 0 : beta_next / column.diagonal;
    return column;
  }
};

template <class T>
constexpr double unit = static_cast<double>(std::numeric_limits<T>::epsilon());

template <class T>
class MinRes {
 public:
  explicit MinRes(const KrylovCall<T>& call) : it_(call), best_(it_) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      for (Array<T>* v : {&r_, &v_, &v_before_, &z_, &z_next_, &w_, &w_before_}) {
        v->resize(call.b.size());
      }
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_.begin();
      at_start_ = it_.last();
      estimate_round_off();
      for (bool more = start(); more;) more = advance();
    }
    best_.restore(r_);
    it_.examine_range(r_);
    return it_.finish(r_);
  }

 private:
  void estimate_round_off();
  bool start();
  bool advance();
  bool is_null_vector(double reducible);
  void extend(double alpha);
  bool measure_next();
  void move(const Rotations::Column& column);
  double update_residual();
  bool settle(double square, bool exhausted);
  bool start_again(double relative, bool exhausted);
  bool refuse(double zv);
  void precondition(std::span<const T> from, Array<T>& to) {
    if (it_.M() != nullptr) return it_.M()->apply(from, to);
    xpby<T>(from, 0.0, to);
  }
  /// The next vector of Lanczos as r_ has the residual.
  std::span<const T> next_like_r() const {
    return it_.norm() == ResidualNorm::preconditioned ? z_next_ : v_;
  }

  Iteration<T> it_;
  Checkpoint<T> best_;
  Array<T> r_;             // the residual, or M times it where that norm is tested
  Array<T> v_, v_before_;  // vectors of Lanczos, not scaled
  Array<T> z_, z_next_;    // M v, scaled, and not scaled the next
  Array<T> w_, w_before_;  // directions of x
  double length_ = 0, length_before_ = 0, length_next_ = 0;  // roots of v.z
  double coupling_ = 0;   // the entry of the tridiagonal matrix above its diagonal
  double eta_ = 0;        // the residual in the natural norm, with a sign
  double step_ = 0;       // the last step of x along w_
  double size_ = 0;       // a lower bound of |M A| where Lanczos has been
  double round_off_ = 0;  // what M A may make of a null vector of length one
  double least_reducible_ = std::numeric_limits<double>::infinity();  // see is_null_vector()
  double rr_ = 0, rv_ = 0, vv_ = 0;  // products of r_ and the next vector of Lanczos
  Rotations rotations_;
  double at_start_ = 0;  // the relative residual when Lanczos last began
};

/// A lower bound of |M A| that does not depend on the residual: of one that is a null vector
/// Lanczos sees round-off only. One reduction. Overwrites v_, z_ and z_next_.
template <class T>
void MinRes<T>::estimate_round_off() {
  const auto first = static_cast<std::uint64_t>(it_.A().layout().begin());
  for (std::size_t i = 0; i < v_.size(); ++i) {
    v_[i] = static_cast<T>(2 * hash_uniform(first + i) - 1);
  }
  precondition(v_, z_);
  it_.A().apply(z_, z_next_);
  const auto [zAz, zv] = sum_all(it_.comm(), dot_local<T>(z_, z_next_), dot_local<T>(z_, v_));
  const double quotient = std::abs(zAz) / zv;
  if (zv > 0 && std::isfinite(quotient)) round_off_ = 100 * unit<T> * quotient;
}

/// Begins Lanczos from the residual r_, which is the true one. One reduction.
template <class T>
bool MinRes<T>::start() {
  xpby<T>(r_, 0.0, v_);
  precondition(v_, z_next_);
  const double zv = sum_all(it_.comm(), dot_local<T>(z_next_, v_))[0];
  if (!(zv > 0) || !std::isfinite(zv)) return refuse(zv);
  if (it_.norm() == ResidualNorm::preconditioned) xpby<T>(z_next_, 0.0, r_);
  length_ = 1;
  length_next_ = eta_ = std::sqrt(zv);
  coupling_ = 0;
  rotations_ = Rotations{};
  for (Array<T>* v : {&v_before_, &w_, &w_before_}) std::fill(v->begin(), v->end(), T{});
  return true;
}

template <class T>
bool MinRes<T>::refuse(double zv) {
  const bool finite = std::isfinite(zv);
  it_.stop(finite ? Outcome::indefinite_preconditioner : Outcome::not_finite,
           fmt::format("v.Mv = {:.2e} in iteration {}: the preconditioner {}", zv,
                       it_.report().iterations + 1,
                       finite ? "is not positive definite, as MINRES needs it; use `solver gmres`, "
                                "or another smoother or preconditioner"
                              : "or the matrix has NaN, infinite or huge entries"));
  return false;
}

/// One iteration: one product, one application of the preconditioner, two reductions.
template <class T>
bool MinRes<T>::advance() {
  length_before_ = length_;
  length_ = length_next_;
  std::swap(z_, z_next_);
  scale<T>(1 / length_, z_);
  it_.A().apply(z_, z_next_);
  const double alpha = sum_all(it_.comm(), dot_local<T>(z_next_, z_))[0];
  extend(alpha);
  size_ = std::max(size_, std::abs(alpha) + coupling_);
  if (!measure_next()) return false;
  // What is left of the new vector may be round-off: then the space is exhausted. Or the residual
  // is a null vector of the matrix, as where there is no solution, and a step would be enormous.
  const bool exhausted = !(length_next_ > 10 * unit<T> * size_);
  if (exhausted) length_next_ = 0;
  const Rotations::Column column = rotations_.append(coupling_, alpha, length_next_);
  if (is_null_vector(column.reducible)) return settle(eta_ * eta_, true);
  move(column);
  coupling_ = length_next_;
  return settle(update_residual(), exhausted);
}

/// Whether the residual, of which M A leaves the `reducible` part, is one in working precision.
/// Where there is no solution that part falls until the square of it is round-off (Choi, Paige,
/// Saunders 2011) and rises then, while x grows along the null vector, and the recurrence for the
/// residual knows nothing of it.
template <class T>
bool MinRes<T>::is_null_vector(double reducible) {
  const double root = std::sqrt(unit<T>) * size_;
  const bool rises_again = least_reducible_ <= root && reducible > 10 * least_reducible_;
  least_reducible_ = rises_again ? reducible : std::min(least_reducible_, reducible);
  return rises_again || !(reducible > std::max(1e-2 * root, round_off_));
}

/// The three-term recurrence: v = A z - alpha v / |v| - coupling v_before / |v_before|.
template <class T>
void MinRes<T>::extend(double alpha) {
  xpby<T>(z_next_, -coupling_ / length_before_, v_before_);
  axpy<T>(-alpha / length_, v_, v_before_);
  std::swap(v_, v_before_);
}

/// z = M v and what has to be known of v. One reduction; false where M is not positive definite.
template <class T>
bool MinRes<T>::measure_next() {
  precondition(v_, z_next_);
  const bool is_natural = it_.norm() == ResidualNorm::natural;
  const std::span<const T> next = next_like_r();
  const auto [zv, rr, rv, vv] = sum_all(
      it_.comm(), dot_local<T>(z_next_, v_), is_natural ? 0.0 : dot_local<T>(r_, r_),
      is_natural ? 0.0 : dot_local<T>(r_, next), is_natural ? 0.0 : dot_local<T>(next, next));
  rr_ = rr;
  rv_ = rv;
  vv_ = vv;
  length_next_ = std::sqrt(std::max(zv, 0.0));
  const bool negative = zv < 0 && std::sqrt(-zv) > 10 * unit<T> * size_;
  return std::isfinite(zv) && !negative ? true : refuse(zv);
}

/// A step of x along the next direction.
template <class T>
void MinRes<T>::move(const Rotations::Column& column) {
  scale<T>(-column.two_above, w_before_);
  axpy<T>(-column.above, w_, w_before_);
  axpy<T>(1.0, z_, w_before_);
  scale<T>(1 / column.diagonal, w_before_);
  std::swap(w_, w_before_);
  step_ = rotations_.c * eta_;
  axpy<T>(step_, w_, it_.x());
  eta_ *= -rotations_.s;
}

/// The residual after the step, s^2 r plus a multiple of the next vector of Lanczos. Returns the
/// square of its tested norm.
template <class T>
double MinRes<T>::update_residual() {
  if (it_.norm() == ResidualNorm::natural) return eta_ * eta_;
  const double kept = rotations_.s * rotations_.s;
  const double added = length_next_ == 0 ? 0.0 : eta_ * rotations_.c / length_next_;
  scale<T>(kept, r_);
  axpy<T>(added, next_like_r(), r_);
  return kept * kept * rr_ + 2 * kept * added * rv_ + added * added * vv_;
}

/// Records the new residual. One that passes the test is replaced by the true one, and so is the
/// last one of an exhausted space; iteration starts afresh from it where it is too large.
template <class T>
bool MinRes<T>::settle(double square, bool exhausted) {
  double relative = std::sqrt(std::max(square, 0.0)) / it_.reference_norm();
  const bool verified = exhausted || it_.passes(relative);
  if (verified) relative = it_.true_residual(r_);
  if (!verified && relative > it_.last() && std::isfinite(relative)) {
    best_.keep_before({{step_, w_}});
  }
  const bool more = it_.record(relative);
  if (!std::isfinite(relative)) best_.undo({{step_, w_}});
  best_.note(relative);
  return more && (!verified || start_again(relative, exhausted));
}

template <class T>
bool MinRes<T>::start_again(double relative, bool exhausted) {
  if (!exhausted) {
    if (!it_.attainable(relative)) return false;
  } else if (!(relative < stagnation_factor * at_start_)) {
    it_.stop(Outcome::breakdown,
             fmt::format("MINRES cannot extend its basis at a relative residual of {:.1e}: the "
                         "matrix or the preconditioner is singular; try another preconditioner",
                         relative));
    return false;
  }
  at_start_ = relative;
  return start();
}

template <class T>
Report solve_by_minres(const KrylovCall<T>& call) {
  return MinRes<T>(call).run();
}

}  // namespace

const KrylovMethod& minres_method() {
  static const KrylovMethod method = {
      {"minres", "the minimal residual method, for symmetric matrices, definite or not",
       "Paige, Saunders 1975; Elman, Silvester, Wathen 2014, chapter 4; Choi, Paige, Saunders "
       "2011"},
      {
          .title = "MINRES",
          .suited_for = SuitedFor::symmetric_ones,
          .minimises_residual = true,
          .knows_all_norms = true,
          .needs_symmetric_preconditioner = true,
          .needs_fixed_preconditioner = true,
          .when_stagnated = "try another smoother or preconditioner",
          .cost = [](const Choice<KrylovMethod>&) { return KrylovCost{.vectors = 7}; },
          .in_double = KrylovFunctions<double>{solve_by_minres<double>},
          .in_float = KrylovFunctions<float>{solve_by_minres<float>},
      }};
  return method;
}

}  // namespace nodewise::solve
