// Conjugate gradients in an enlarged Krylov space: the residual is split over parts of the domain.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// What became of a new residual.
enum class Next { stop, go_on, restart };

using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// S with S^T C S = 1 on as many columns as C, which is symmetric, has rank; its other columns are
/// zero. Eigenvalues below `drop` times the largest, after scaling to a unit diagonal, count as
/// zero; one that is as far below zero sets `negative`.
Small orthonormaliser(const Small& C, double drop, bool& negative) {
  const Eigen::Index n = C.rows();
  Eigen::VectorXd scale(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    negative = negative || C(i, i) < 0;
    scale[i] = C(i, i) > 0 ? 1 / std::sqrt(C(i, i)) : 0.0;
  }
  const Eigen::MatrixXd scaled =
      scale.asDiagonal() * (0.5 * (C + C.transpose())) * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled);
  const Eigen::VectorXd& values = eigen.eigenvalues();
  const double least = drop * std::max(values[n - 1], 0.0);
  Small S = Small::Zero(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    negative = negative || values[j] < -least;
    if (!(values[j] > least)) continue;
    S.col(j) = scale.cwiseProduct(eigen.eigenvectors().col(j)) / std::sqrt(values[j]);
  }
  return S;
}

template <class T>
class EnlargedCg {
 public:
  EnlargedCg(const Operator<T>& A, const Operator<T>* M, std::span<const T> b, std::span<T> x,
             const Options& options, const Observer& observe)
      : it_(Method::enlarged_cg, A, M, b, x, options, observe),
        best_(it_),
        t_(static_cast<std::size_t>(options.enlarging_factor)),
        C_(options.enlarging_factor, options.enlarging_factor),
        G_(C_),
        steps_(t_) {
    mpi::collectively(it_.comm(), [&] {
      best_.make_room();
      for (Array<T>* v : {&r_, &z_, &d_}) v->resize(b.size());
      for (Array<T>* block : {&R_, &P_, &Q_}) block->resize(b.size() * t_);
      Z_.resize(b.size() * t_);
      work_.resize(2 * b.size());
      sums_.resize(2 * t_ * t_ + 3);
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
  bool precondition();
  bool advance();
  bool accept(double rz);
  bool orthonormalise();
  void move();
  Next settle(double square);
  std::span<double> sums(std::size_t begin, std::size_t n) {
    return std::span(sums_).subspan(begin, n);
  }

  Iteration<T> it_;
  Checkpoint<T> best_;
  std::size_t t_;
  Array<T> r_, z_, d_;         // residual, M r, the last step of x
  Array<T> R_, P_, Q_, Z_;     // the split residual, A-orthonormal directions, A P, M R
  Array<T> work_;              // two vectors
  Small C_, G_;                // P^T A P and P^T R of new directions
  std::vector<double> steps_;  // of x along each direction
  std::vector<double> sums_;
  double rr_local_ = 0;   // this rank's part of r.r
  bool fresh_ = true;     // there are no directions yet
  bool pending_ = false;  // the residual is not recorded yet
};

/// Starts afresh from r_: column k has the entries of the k-th of t equal ranges of rows, so that
/// the split does not depend on the ranks.
template <class T>
void EnlargedCg<T>::split() {
  const comm::Layout& layout = it_.A().layout();
  std::fill(R_.begin(), R_.end(), T{});
  for (std::size_t i = 0; i < r_.size(); ++i) {
    const auto row =
        static_cast<double>(layout.to_global(static_cast<LocalIndex>(i)) - layout.first());
    const double part = row / static_cast<double>(layout.n_global()) * static_cast<double>(t_);
    R_[i * t_ + std::min(static_cast<std::size_t>(part), t_ - 1)] = r_[i];
  }
  rr_local_ = dot_local<T>(r_, r_);
  fresh_ = true;
}

/// Z = M R, the test of the residual if that is still pending, and new directions, conjugate to the
/// last ones. One application of the preconditioner to the block and one reduction; false where the
/// solve is over.
template <class T>
bool EnlargedCg<T>::precondition() {
  const std::size_t n_beta = t_ * t_;
  for (bool restarted = true; restarted;) {
    restarted = false;
    if (it_.M() != nullptr) {
      it_.M()->apply_block(R_, Z_, static_cast<int>(t_), work_);
    } else {
      std::copy(R_.begin(), R_.end(), Z_.begin());
    }
    const double zz = sum_columns<T>(Z_, t_, z_);
    if (fresh_) {
      std::fill_n(sums_.begin(), n_beta, 0.0);
    } else {
      gram<T>(Q_, Z_, t_, sums(0, n_beta));
    }
    sums_[n_beta] = dot_local<T>(r_, z_);
    sums_[n_beta + 1] = rr_local_;
    sums_[n_beta + 2] = zz;
    sum_parts(it_.comm(), sums(0, n_beta + 3));
    const double square = it_.chosen(sums_[n_beta + 1], sums_[n_beta], sums_[n_beta + 2]);
    if (pending_ && !(square < 0)) {
      const Next next = settle(square);
      if (next == Next::stop) return false;
      restarted = next == Next::restart;
    }
  }
  if (!accept(sums_[n_beta])) return false;
  if (!fresh_) subtract_product<T>(P_, sums(0, n_beta), t_, Z_);
  std::swap(P_, Z_);
  fresh_ = false;
  return true;
}

/// Whether the iteration can go on with this r.z.
template <class T>
bool EnlargedCg<T>::accept(double rz) {
  if (rz > 0 && std::isfinite(rz)) return true;
  const bool finite = std::isfinite(rz);
  it_.stop(finite ? Outcome::indefinite_preconditioner : Outcome::not_finite,
           fmt::format("r.Mr = {:.2e} in iteration {}: the preconditioner {}", rz,
                       it_.report().iterations + 1,
                       finite ? "is not positive definite, as CG needs it; use --solver gmres, or "
                                "another smoother"
                              : "returned NaN or infinite values"));
  return false;
}

/// Q = A P and the step in the space of the directions. One product with the block and one
/// reduction, one more where the iteration is likely to be the last.
template <class T>
bool EnlargedCg<T>::advance() {
  it_.A().apply_block(P_, Q_, static_cast<int>(t_), work_);
  gram<T>(P_, Q_, t_, sums(0, t_ * t_));
  gram<T>(P_, R_, t_, sums(t_ * t_, t_ * t_));
  sum_parts(it_.comm(), sums(0, 2 * t_ * t_));
  if (!orthonormalise()) return false;
  move();
  pending_ = true;
  const bool last_allowed = it_.report().iterations + 1 >= it_.options().max_iterations;
  const bool is_plain = it_.norm() == ResidualNorm::unpreconditioned;
  if (!is_plain || !(last_allowed || it_.next_may_pass())) return true;
  return settle(sum_all(it_.comm(), rr_local_)[0]) != Next::stop;
}

/// Makes P orthonormal in the inner product of A, and Q with it. The small matrices are the same on
/// all ranks.
template <class T>
bool EnlargedCg<T>::orthonormalise() {
  const auto n = static_cast<Eigen::Index>(t_);
  C_ = Eigen::Map<const Small>(sums_.data(), n, n);
  G_ = Eigen::Map<const Small>(sums_.data() + n * n, n, n);
  const int iteration = it_.report().iterations + 1;
  if (!C_.allFinite() || !G_.allFinite()) {
    it_.stop(Outcome::not_finite,
             fmt::format("the products of directions are not finite in iteration {}: the matrix or "
                         "the preconditioner has NaN, infinite or huge entries",
                         iteration));
    return false;
  }
  // Gram matrices know directions up to the root of round-off, so that a little more is dropped.
  const double drop = std::pow(static_cast<double>(std::numeric_limits<T>::epsilon()), 2.0 / 3);
  bool negative = false;
  const Small S = orthonormaliser(C_, drop, negative);
  if (negative || S.isZero(0)) {
    it_.stop(Outcome::indefinite_matrix,
             fmt::format("p.Ap <= 0 for a direction p in iteration {}: the matrix is not positive "
                         "definite, as CG needs it; use --solver minres or gmres",
                         iteration));
    return false;
  }
  const std::span<const double> S_entries(S.data(), t_ * t_);
  multiply_columns<T>(S_entries, t_, P_);
  multiply_columns<T>(S_entries, t_, Q_);
  G_ = S.transpose() * G_;
  const Eigen::VectorXd steps = G_.rowwise().sum();
  std::copy(steps.begin(), steps.end(), steps_.begin());
  return true;
}

/// x += P (P^T R 1), R -= Q (P^T R).
template <class T>
void EnlargedCg<T>::move() {
  std::fill(d_.begin(), d_.end(), T{});
  add_combination<T>(P_, steps_, d_);
  axpy<T>(1.0, d_, it_.x());
  subtract_product<T>(Q_, std::span<const double>(G_.data(), t_ * t_), t_, R_);
  rr_local_ = sum_columns<T>(R_, t_, r_);
}

/// Takes the new residual, whose tested norm has this square: records it and keeps a checkpoint.
/// Where the recurrence says converged, it is replaced by the true residual, from which iteration
/// starts afresh if that is too large.
template <class T>
Next EnlargedCg<T>::settle(double square) {
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
  if (!more) return Next::stop;
  if (!verified) return Next::go_on;
  if (!it_.attainable(relative)) return Next::stop;
  split();
  return Next::restart;
}

}  // namespace

template <class T>
Report enlarged_cg(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
                   std::span<T> x, const Options& options, const Observer& observe) {
  const mpi::Scope scope(A.layout().comm(), "vector_updates", mpi::no_level);
  return EnlargedCg<T>(A, preconditioner, b, x, options, observe).run();
}

template Report enlarged_cg(const Operator<double>&, const Operator<double>*,
                            std::span<const double>, std::span<double>, const Options&,
                            const Observer&);
template Report enlarged_cg(const Operator<float>&, const Operator<float>*, std::span<const float>,
                            std::span<float>, const Options&, const Observer&);

}  // namespace nodewise::solve
