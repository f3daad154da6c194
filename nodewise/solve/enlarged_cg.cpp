// Conjugate gradients in an enlarged Krylov space: the residual is split over parts of the domain.
#include "nodewise/solve/enlarged_cg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "nodewise/base/scale.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// What became of a new residual.
enum class NextEnlarged { stop, go_on, restart };

using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// S with S^T C S = 1 on the first columns, as many as C, which is symmetric, has rank; the others
/// are zero. Diagonal entries up to `noise` count as zero, as do eigenvalues, after scaling to a
/// unit diagonal, up to `drop` times the largest and the noise; what is as far below zero sets
/// `negative`.
Small orthonormaliser(const Small& C, const Eigen::VectorXd& noise, double drop, bool& negative) {
  const Eigen::Index n = C.rows();
  Eigen::VectorXd scale(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    negative = negative || C(i, i) < -noise[i];
    scale[i] = C(i, i) > noise[i] ? 1 / std::sqrt(C(i, i)) : 0.0;
  }
  const Eigen::MatrixXd scaled =
      scale.asDiagonal() * (0.5 * (C + C.transpose())) * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled);
  const Eigen::VectorXd& values = eigen.eigenvalues();
  const double least = drop * std::max(values[n - 1], 0.0);
  Small S = Small::Zero(n, n);
  const Eigen::VectorXd relative_noise = noise.cwiseProduct(scale).cwiseProduct(scale);
  Eigen::Index rank = 0;
  for (Eigen::Index j = n; j-- > 0;) {
    const double uncertain =
        static_cast<double>(n) * eigen.eigenvectors().col(j).cwiseAbs2().dot(relative_noise);
    const double zero = std::max(least, uncertain);
    negative = negative || values[j] < -zero;
    if (!(values[j] > zero)) continue;
    S.col(rank++) = scale.cwiseProduct(eigen.eigenvectors().col(j)) / std::sqrt(values[j]);
  }
  return S;
}

/// Turns the columns of S such that (S^T v)_0 is the only entry of S^T v that is not zero; where S
/// has columns of zeros, the last ones, they stay.
void turn_to(const Eigen::VectorXd& v, Small& S) {
  Eigen::VectorXd w = S.transpose() * v;
  const double length = w.norm();
  if (!(length > 0)) return;
  w[0] += std::copysign(length, w[0]);
  S -= (2 / w.squaredNorm()) * (S * w) * w.transpose();
}

int enlarging_factor(const Choice<KrylovMethod>& method) {
  return method.options<EnlargedCgOptions>().enlarging_factor;
}

template <class T>
class EnlargedCg {
 public:
  explicit EnlargedCg(const KrylovCall<T>& call)
      : it_(call),
        best_(it_),
        t_(static_cast<std::size_t>(enlarging_factor(call.method))),
        steps_(t_) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      for (Array<T>* v : {&r_, &z_, &d_}) v->resize(call.b.size());
      for (Array<T>* block : {&P_, &Q_, &old_P_, &old_Q_, &Z_}) block->resize(call.b.size() * t_);
      work_.resize(2 * call.b.size());
      sums_.resize(2 * t_ * t_ + 3 * t_ + 3);
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_.begin();
      split();
      while (precondition() && advance()) {
      }
    }
    best_.restore(r_);
    it_.examine_range(r_);
    return it_.finish(r_);
  }

 private:
  void split();
  void apply_preconditioner();
  bool precondition();
  void conjugate();
  bool advance();
  bool accept();
  void choose_unit(double rz);
  NextEnlarged orthonormalise();
  void move();
  NextEnlarged settle(double square);
  bool start_again();
  std::span<double> sums(std::size_t begin, std::size_t n) {
    return std::span(sums_).subspan(begin, n);
  }

  Iteration<T> it_;
  Checkpoint<T> best_;
  std::size_t t_;
  Array<T> r_, z_, d_;         // residual, M r, the last step of x
  Array<T> P_, Q_;             // A-orthonormal directions and A P
  Array<T> old_P_, old_Q_;     // those before
  Array<T> Z_;                 // the next directions
  Array<T> work_;              // two vectors
  std::vector<double> steps_;  // of x along each direction
  std::vector<double> sums_;
  double rr_local_ = 0;   // this rank's part of r.r
  double unit_ = 1;       // by which M r is multiplied to be a direction
  double norm_of_A_ = 0;  // the largest |A p| / |p| so far
  int n_blocks_ = 0;      // of directions that the next ones have to be conjugate to: 2 at most
  bool pending_ = false;  // the residual is not recorded yet
};

/// Starts afresh from r_: the first directions are the parts of M r, column k in the k-th of t
/// equal ranges of rows, so that the split does not depend on the ranks. Parts of r in place of
/// them would not be in the range of a singular A, and M may make anything of what is not.
template <class T>
void EnlargedCg<T>::split() {
  if (it_.M() != nullptr) {
    it_.M()->apply(r_, z_);
  } else {
    std::copy(r_.begin(), r_.end(), z_.begin());
  }
  const comm::Layout& layout = it_.A().layout();
  std::fill(Z_.begin(), Z_.end(), T{});
  for (std::size_t i = 0; i < z_.size(); ++i) {
    const auto row =
        static_cast<double>(layout.to_global(static_cast<LocalIndex>(i)) - layout.first());
    const double part = row / static_cast<double>(layout.n_global()) * static_cast<double>(t_);
    Z_[i * t_ + std::min(static_cast<std::size_t>(part), t_ - 1)] = z_[i];
  }
  rr_local_ = dot_local<T>(r_, r_);
  n_blocks_ = 0;
}

/// Z = M Q with the residual in the place of Q's first column, along which alone x has moved: it
/// differs by that from what is known already, so that the space grows by the same, and whatever M
/// is short of linear by does not keep M r from being among the directions. Then this rank's parts
/// of (A P)^T Z, of the same with the block before, and of r.r, r.Mr and Mr.Mr.
template <class T>
void EnlargedCg<T>::apply_preconditioner() {
  const std::size_t n = t_ * t_;
  std::fill(sums_.begin(), sums_.end(), 0.0);
  if (n_blocks_ > 0) {
    get_column<T>(Q_, t_, 0, z_);
    for (std::size_t i = 0; i < r_.size(); ++i) Q_[i * t_] = static_cast<T>(unit_ * r_[i]);
    if (it_.M() != nullptr) {
      it_.M()->apply_block(Q_, Z_, static_cast<int>(t_), work_);
    } else {
      std::copy(Q_.begin(), Q_.end(), Z_.begin());
    }
    set_column<T>(z_, t_, 0, Q_);
    get_column<T>(Z_, t_, 0, z_);
    scale<T>(1 / unit_, z_);
    gram<T>(Q_, Z_, t_, sums(0, n));
    if (n_blocks_ > 1) gram<T>(old_Q_, Z_, t_, sums(n, n));
  }
  sums_[2 * n] = rr_local_;
  sums_[2 * n + 1] = dot_local<T>(r_, z_);
  sums_[2 * n + 2] = dot_local<T>(z_, z_);
}

/// The test of the residual if that is still pending, and new directions, conjugate to all before.
/// One application of the preconditioner to the block and one reduction; false where the solve is
/// over.
template <class T>
bool EnlargedCg<T>::precondition() {
  const std::size_t rr = 2 * t_ * t_;
  for (bool restarted = true; restarted;) {
    restarted = false;
    apply_preconditioner();
    sum_parts(it_.comm(), sums(0, rr + 3));
    const double square = it_.chosen(sums_[rr], sums_[rr + 1], sums_[rr + 2]);
    if (pending_ && !(square < 0)) {
      const NextEnlarged next = settle(square);
      if (next == NextEnlarged::stop) return false;
      restarted = next == NextEnlarged::restart;
    }
  }
  if (!accept()) return false;
  choose_unit(sums_[rr + 1]);
  conjugate();
  return true;
}

/// Directions are in the units of x, which may be such that their squares leave the range of
/// double: M r is measured by r.Mr, in powers of two, so that nothing is rounded. The other ones,
/// M Q, are so by themselves.
template <class T>
void EnlargedCg<T>::choose_unit(double rz) {
  unit_ = scale_of(std::sqrt(rz));
  if (n_blocks_ == 0) scale<T>(unit_, Z_);
}

/// Whether the iteration can go on with r.Mr and q.Mq of the columns of Q but the first, which are
/// zero where there is no direction.
template <class T>
bool EnlargedCg<T>::accept() {
  const double rz = sums_[2 * t_ * t_ + 1];
  double least = 0, sum = 0;
  for (std::size_t k = 1; k < t_ && n_blocks_ > 0; ++k) {
    const double qq = sums_[k * t_ + k];
    least = std::min(least, qq);
    sum += std::abs(qq);
  }
  const bool finite = std::isfinite(rz) && std::isfinite(sum);
  constexpr double round_off = 1e-12;
  if (finite && rz > 0 && least >= -round_off * sum) return true;
  const double shown = finite && rz > 0 ? least : rz;
  it_.stop(finite ? Outcome::indefinite_preconditioner : Outcome::not_finite,
           fmt::format("q.Mq = {:.2e} for a vector q in iteration {}: the preconditioner {}", shown,
                       it_.report().iterations + 1,
                       finite ? "is not positive definite, as CG needs it; use `solver gmres`, or "
                                "another smoother or preconditioner"
                              : "returned NaN or infinite values"));
  return false;
}

/// P = Z less its part along the directions before: A times the last ones is in the span of those
/// and their neighbours in time, so that two blocks are enough.
template <class T>
void EnlargedCg<T>::conjugate() {
  const std::size_t n = t_ * t_;
  if (n_blocks_ > 0) subtract_product<T>(P_, sums(0, n), t_, Z_);
  if (n_blocks_ > 1) subtract_product<T>(old_P_, sums(n, n), t_, Z_);
  std::swap(old_P_, P_);
  std::swap(old_Q_, Q_);
  std::swap(P_, Z_);
  n_blocks_ = std::min(n_blocks_ + 1, 2);
}

/// Q = A P and the step in the space of the directions. One product with the block and one
/// reduction, one more where the iteration is likely to be the last.
template <class T>
bool EnlargedCg<T>::advance() {
  it_.A().apply_block(P_, Q_, static_cast<int>(t_), work_);
  const std::size_t n = t_ * t_;
  std::fill(sums_.begin(), sums_.end(), 0.0);
  gram<T>(P_, Q_, t_, sums(0, n));
  if (n_blocks_ > 1) gram<T>(old_Q_, P_, t_, sums(n, n));
  dot_columns<T>(P_, P_, sums(2 * n, t_));
  dot_columns<T>(Q_, Q_, sums(2 * n + t_, t_));
  dot_with_columns<T>(r_, P_, sums(2 * n + 2 * t_, t_));
  sum_parts(it_.comm(), sums(0, 2 * n + 3 * t_));
  const NextEnlarged next = orthonormalise();
  if (next != NextEnlarged::go_on) return next == NextEnlarged::restart && start_again();
  move();
  pending_ = true;
  const bool last_allowed = it_.report().iterations + 1 >= it_.options().max_iterations;
  const bool is_plain = it_.norm() == ResidualNorm::unpreconditioned;
  if (!is_plain || !(last_allowed || it_.next_may_pass())) return true;
  return settle(sum_all(it_.comm(), rr_local_)[0]) != NextEnlarged::stop;
}

/// Makes P conjugate to the directions before once more, which Q is known for now, so that
/// round-off does not bring them back, then orthonormal in the inner product of A, and Q with it.
/// The small matrices are the same on all ranks. Where no direction is left after some blocks,
/// round-off has used them up.
template <class T>
NextEnlarged EnlargedCg<T>::orthonormalise() {
  const auto n = static_cast<Eigen::Index>(t_);
  const Eigen::Map<const Small> before(sums_.data() + n * n, n, n);  // (A P_old)^T P
  const Small C = Eigen::Map<const Small>(sums_.data(), n, n) - before.transpose() * before;
  const Eigen::Map<const Eigen::VectorXd> pp(before.data() + n * n, n), qq(pp.data() + n, n),
      pr(qq.data() + n, n);
  const int iteration = it_.report().iterations + 1;
  if (!C.allFinite() || !pr.allFinite()) {
    it_.stop(Outcome::not_finite,
             fmt::format("the products of directions are not finite in iteration {}: the matrix or "
                         "the preconditioner has NaN, infinite or huge entries",
                         iteration));
    return NextEnlarged::stop;
  }
  for (Eigen::Index k = 0; k < n; ++k) {
    if (pp[k] > 0) norm_of_A_ = std::max(norm_of_A_, std::sqrt(qq[k]) / std::sqrt(pp[k]));
  }
  constexpr auto unit = static_cast<double>(std::numeric_limits<T>::epsilon());
  const Eigen::VectorXd noise = 2 * unit * norm_of_A_ * pp;  // of p.Ap, p near a null vector
  // Gram matrices know directions up to the root of round-off, so that a little more is dropped.
  const double drop = std::pow(unit, 2.0 / 3);
  bool negative = false;
  Small S = orthonormaliser(C, noise, drop, negative);
  if (S.isZero(0) && !negative && n_blocks_ > 1) return NextEnlarged::restart;
  if (negative || S.isZero(0)) {
    it_.stop(Outcome::indefinite_matrix,
             fmt::format("p.Ap <= 0 for a direction p in iteration {}: the matrix is not positive "
                         "definite, as CG needs it; use `solver minres` or gmres",
                         iteration));
    return NextEnlarged::stop;
  }
  if (n_blocks_ > 1) {
    subtract_product<T>(old_P_, sums(t_ * t_, t_ * t_), t_, P_);
    subtract_product<T>(old_Q_, sums(t_ * t_, t_ * t_), t_, Q_);
  }
  turn_to(pr, S);
  const std::span<const double> S_entries(S.data(), t_ * t_);
  multiply_columns<T>(S_entries, t_, P_);
  multiply_columns<T>(S_entries, t_, Q_);
  const Eigen::VectorXd steps = S.transpose() * pr;
  std::copy(steps.begin(), steps.end(), steps_.begin());
  return NextEnlarged::go_on;
}

/// x += P (P^T r), r -= Q (P^T r).
template <class T>
void EnlargedCg<T>::move() {
  std::fill(d_.begin(), d_.end(), T{});
  add_combination<T>(P_, steps_, d_);
  axpy<T>(1.0, d_, it_.x());
  for (double& step : steps_) step = -step;
  add_combination<T>(Q_, steps_, r_);
  rr_local_ = dot_local<T>(r_, r_);
}

/// From the true residual; false where that has been of no use before.
template <class T>
bool EnlargedCg<T>::start_again() {
  if (!it_.attainable(it_.true_residual(r_))) return false;
  split();
  return true;
}

/// Takes the new residual, whose tested norm has this square: records it and keeps a checkpoint.
/// Where the recurrence says converged, it is replaced by the true residual, from which iteration
/// starts afresh if that is too large.
template <class T>
NextEnlarged EnlargedCg<T>::settle(double square) {
  pending_ = false;
  double relative = std::sqrt(square) / it_.reference_norm();
  const bool verified = it_.passes(relative);
  if (verified) relative = it_.true_residual(r_);
  if (!verified && relative > it_.last() && std::isfinite(relative)) {
    best_.keep_before({{1.0, d_}});
  }
  const bool more = it_.record(relative);
  if (!std::isfinite(relative)) best_.undo({{1.0, d_}});
  best_.note(relative);
  if (!more) return NextEnlarged::stop;
  if (!verified) return NextEnlarged::go_on;
  if (!it_.attainable(relative)) return NextEnlarged::stop;
  split();
  return NextEnlarged::restart;
}

template <class T>
Report solve_by_enlarged_cg(const KrylovCall<T>& call) {
  return EnlargedCg<T>(call).run();
}

}  // namespace

std::span<const Field<EnlargedCgOptions>> enlarged_cg_fields() {
  static const std::vector<Field<EnlargedCgOptions>> fields = {field(
      "enlarging_factor", &EnlargedCgOptions::enlarging_factor,
      "Parts that the residual is split into, and directions that are searched at once", 1, 64)};
  return fields;
}

const KrylovMethod& enlarged_cg_method() {
  static const KrylovMethod method = {
      {"enlarged_cg", "conjugate gradients along several directions at once, for many ranks",
       "Grigori, Moufawad, Nataf 2016; Grigori, Tissot 2019", own_options(enlarged_cg_fields)},
      {
          .title = "enlarged conjugate gradients",
          .suited_for = SuitedFor::positive_definite_ones,
          .minimises_residual = false,
          .knows_all_norms = true,
          .needs_symmetric_preconditioner = true,
          .needs_fixed_preconditioner = true,
          .when_stagnated = advice_for_cg,
          .cost =
              [](const Choice<KrylovMethod>& chosen) {
                const int t = enlarging_factor(chosen);
                return KrylovCost{
                    .longest_sum = 2 * t * t + 3 * t, .vectors = 5 * t + 5, .vectors_at_once = t};
              },
          .in_double = KrylovFunctions<double>{solve_by_enlarged_cg<double>},
          .in_float = KrylovFunctions<float>{solve_by_enlarged_cg<float>},
      }};
  return method;
}

}  // namespace nodewise::solve
