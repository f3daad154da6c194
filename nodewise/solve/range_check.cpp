#include "nodewise/solve/range_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/asymmetry.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

constexpr int most_steps = 60;

/// Conjugate gradients with smoothed residuals, from a given residual.
template <class T>
class NullVectorSearch {
 public:
  NullVectorSearch(const Operator<T>& A, const Operator<T>* M, std::span<const T> b,
                   double tolerance)
      : A_(A), M_(M), b_(b) {
    mpi::collectively(comm(), [&] {
      for (Array<T>* v : {&r_, &p_, &q_, &z_, &s_}) v->resize(b.size());
    });
    norm_A_ = estimate_norm();
    constexpr double epsilon = std::numeric_limits<T>::epsilon();
    allowed_ratio_ = epsilon / std::max(tolerance, std::sqrt(epsilon));
  }

  RangeCheck run(std::span<const T> residual) {
    residual_ = residual;
    std::copy(residual.begin(), residual.end(), r_.begin());
    s_ = r_;
    // A preconditioner that inverts a singular coarse matrix filters its null vector out; the
    // usual one, of pure Neumann problems, is therefore tried as it is.
    std::fill(z_.begin(), z_.end(), T{1});
    RangeCheck check = examine_direction();
    if (check.outside) return check;
    check = examine();  // GMRES may have left a null vector already
    if (check.outside || !start()) return check;
    int next_check = 1;
    for (int k = 1; k <= most_steps; ++k) {
      const bool more = step();
      if (k < next_check && k < most_steps && more) continue;
      check = examine();
      if (check.outside || !more) break;
      next_check *= 2;
    }
    return check;
  }

 private:
  const mpi::Comm& comm() const { return A_.layout().comm(); }

  /// A lower bound of |A|, from a hashed vector: the directions of the search may be null vectors.
  double estimate_norm() {
    const auto first = static_cast<std::uint64_t>(A_.layout().begin());
    for (std::size_t i = 0; i < p_.size(); ++i) {
      p_[i] = static_cast<T>(2 * hash_uniform(first + i) - 1);
    }
    A_.apply(p_, q_);
    const auto [pp, qq] = sum_all(comm(), dot_local<T>(p_, p_), dot_local<T>(q_, q_));
    return std::sqrt(qq / pp);
  }

  void precondition(std::span<const T> r) {
    if (M_ != nullptr) {
      M_->apply(r, z_);
    } else {
      std::copy(r.begin(), r.end(), z_.begin());
    }
  }

  /// The first direction; false where the preconditioner is not positive definite.
  bool start() {
    precondition(r_);
    p_ = z_;
    rz_ = sum_all(comm(), dot_local<T>(r_, z_))[0];
    weight_ = 1 / rz_;
    return rz_ > 0 && std::isfinite(weight_);
  }

  /// One iteration; false where it cannot go on.
  bool step() {
    A_.apply(p_, q_);
    const auto [pq, pp, qq] =
        sum_all(comm(), dot_local<T>(p_, q_), dot_local<T>(p_, p_), dot_local<T>(q_, q_));
    if (pp > 0) norm_A_ = std::max(norm_A_, std::sqrt(qq / pp));
    const double alpha = rz_ / pq;
    if (!(pq > 0) || !std::isfinite(alpha)) return false;
    axpy<T>(-alpha, q_, r_);
    precondition(r_);
    const double rz = sum_all(comm(), dot_local<T>(r_, z_))[0];
    if (!(rz > 0) || !std::isfinite(1 / rz)) return false;
    weight_ += 1 / rz;
    const double share = 1 / (rz * weight_);  // of the new residual in the smoothed one
    scale<T>(1 - share, s_);
    axpy<T>(share, r_, s_);
    xpby<T>(z_, rz / rz_, p_);
    rz_ = rz;
    return true;
  }

  /// Whether v = M s is a null vector that b is not orthogonal to. Overwrites z and q, which the
  /// next step does not read.
  RangeCheck examine() {
    precondition(s_);
    return examine_direction();
  }

  /// The same for v = z.
  RangeCheck examine_direction() {
    A_.apply(z_, q_);
    const auto [Av_Av, v_v, v_b, b_b, v_r] =
        sum_all(comm(), dot_local<T>(q_, q_), dot_local<T>(z_, z_), dot_local<T>(z_, b_),
                dot_local<T>(b_, b_), dot_local<T>(z_, residual_));
    RangeCheck check;
    check.smallness = std::sqrt(Av_Av / v_v) / norm_A_;
    check.fraction = std::abs(v_b) / std::sqrt(v_v * b_b);
    // b = A x implies fraction |b| <= smallness |A| |x|, and the residual of any x has an error of
    // epsilon |A| |x|. No x takes the part of a null vector from the residual: what has gone since
    // the start was in the range, however small A v is beside |A|.
    const bool has_stayed = std::abs(v_b - v_r) <= 0.5 * std::abs(v_b);
    check.outside = has_stayed && check.smallness < allowed_ratio_ * check.fraction &&
                    check.fraction * allowed_ratio_ > std::numeric_limits<T>::epsilon();
    return check;
  }

  const Operator<T>& A_;
  const Operator<T>* M_;
  std::span<const T> b_;
  std::span<const T> residual_;  // that the search begins with
  Array<T> r_, p_, q_, z_, s_;
  double rz_ = 0;
  double weight_ = 0;  // sum of 1 / r.z
  double norm_A_ = 0;
  double allowed_ratio_ = 0;
};

}  // namespace

std::string RangeCheck::diagnosis() const {
  return fmt::format(
      "the matrix is singular to working precision and the system has no solution: "
      "{:.2g} of the right-hand side's norm lies outside the range of the matrix; "
      "remove that part (for a pure Neumann problem: subtract the mean), or fix "
      "an unknown",
      fraction);
}

template <class T>
RangeCheck check_range(const Operator<T>& A, const Operator<T>* M, std::span<const T> b,
                       std::span<const T> residual, double tolerance) {
  // Null vectors of A say nothing on its range unless A is symmetric.
  const double symmetric_up_to = 1e3 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!(asymmetry(A) <= symmetric_up_to)) return {};
  NullVectorSearch<T> search(A, M, b, tolerance);
  RangeCheck check = search.run(residual);
  if (check.outside || M == nullptr) return check;
  // The preconditioner may be what is wrong.
  return NullVectorSearch<T>(A, nullptr, b, tolerance).run(residual);
}

template RangeCheck check_range(const Operator<double>&, const Operator<double>*,
                                std::span<const double>, std::span<const double>, double);
template RangeCheck check_range(const Operator<float>&, const Operator<float>*,
                                std::span<const float>, std::span<const float>, double);

}  // namespace nodewise::solve
