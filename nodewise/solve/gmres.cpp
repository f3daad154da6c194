// Flexible restarted GMRES, preconditioned from the right.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/range_check.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// The small least-squares problem of GMRES: the Hessenberg matrix, made triangular column by
/// column with Givens rotations, and the rotated right-hand side. Local and the same on all ranks.
class LeastSquares {
 public:
  void reset(double residual_norm) {
    columns_.clear();
    cosines_.clear();
    sines_.clear();
    g_ = {residual_norm};
  }

  /// Appends a column: its entries down to and below the diagonal, one more than the one before.
  void append(std::vector<double> column) {
    const std::size_t j = columns_.size();
    for (std::size_t i = 0; i < j; ++i) {
      const double upper = column[i];
      column[i] = cosines_[i] * upper + sines_[i] * column[i + 1];
      column[i + 1] = cosines_[i] * column[i + 1] - sines_[i] * upper;
    }
    const double length = std::hypot(column[j], column[j + 1]);
    const bool zero = length == 0;
    cosines_.push_back(zero ? 1.0 : column[j] / length);
    sines_.push_back(zero ? 0.0 : column[j + 1] / length);
    column[j] = length;
    column.resize(j + 1);
    columns_.push_back(std::move(column));
    g_.push_back(-sines_[j] * g_[j]);
    g_[j] *= cosines_[j];
  }

  double residual_norm() const { return std::abs(g_.back()); }

  std::size_t n_columns() const { return columns_.size(); }

  /// The minimiser, by back substitution.
  std::vector<double> solve() const {
    std::vector<double> y(g_.begin(), g_.end() - 1);
    for (std::size_t j = columns_.size(); j-- > 0;) {
      const std::vector<double>& column = columns_[j];
      y[j] = column[j] == 0 ? 0.0 : y[j] / column[j];
      for (std::size_t i = 0; i < j; ++i) y[i] -= y[j] * column[i];
    }
    return y;
  }

  /// The shortest minimiser, singular values below `threshold` times the largest pivot being taken
  /// for zero: for a singular matrix, where solve() may return something huge.
  std::vector<double> solve_truncated(double threshold) const {
    const auto n = static_cast<Eigen::Index>(columns_.size());
    Eigen::MatrixXd R = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      for (Eigen::Index i = 0; i <= j; ++i) {
        R(i, j) = columns_[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
      }
    }
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(threshold);
    decomposition.compute(R);
    const Eigen::VectorXd y = decomposition.solve(Eigen::Map<const Eigen::VectorXd>(g_.data(), n));
    return {y.begin(), y.end()};
  }

 private:
  std::vector<std::vector<double>> columns_;
  std::vector<double> cosines_, sines_, g_;
};

template <class T>
class Gmres {
 public:
  Gmres(const Operator<T>& A, const Operator<T>* M, std::span<const T> b, std::span<T> x,
        const Options& options, const Observer& observe)
      : it_("gmres", A, M, b, x, options, observe) {
    mpi::collectively(it_.comm(), [&] {
      r_.resize(b.size());
      next_.resize(b.size());
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      true_ = it_.last();
      while (cycle()) {
      }
    }
    examine_range();
    return it_.finish(r_);
  }

 private:
  enum class Step { go_on, verify, stop };

  bool cycle();
  Step extend(std::size_t j);
  bool orthogonalise(std::size_t j, std::vector<double>& column);
  double attempt(std::span<const double> y);
  bool move();
  void reserve(std::size_t n);
  void examine_range();
  std::span<const Array<T>> basis(std::size_t n) const { return std::span(V_).first(n); }
  std::span<const Array<T>> directions(std::size_t n) const {
    return std::span(it_.M() == nullptr ? V_ : Z_).first(n);
  }

  Iteration<T> it_;
  Array<T> r_, next_;        // b - A x; the next x
  std::vector<Array<T>> V_;  // orthonormal basis
  std::vector<Array<T>> Z_;  // its preconditioned vectors; unused without preconditioner
  LeastSquares small_;
  double true_ = 0;         // the relative norm of r_
  bool invariant_ = false;  // the basis cannot be extended
};

/// One cycle from the residual r_: at most `restart` steps, then x moves and r_ is recomputed.
/// False where the solve is over.
template <class T>
bool Gmres<T>::cycle() {
  const double before = true_;
  const double norm = before * it_.rhs_norm();
  small_.reset(norm);
  invariant_ = false;
  reserve(1);
  xpby<T>(r_, 0.0, V_[0]);
  scale<T>(1 / norm, V_[0]);
  Step step = Step::go_on;
  for (std::size_t j = 0; step == Step::go_on && std::cmp_less(j, it_.options().restart); ++j) {
    step = extend(j);
  }
  const bool moved = move();
  if (step == Step::stop) return false;
  if (step == Step::verify && !it_.record(true_)) return false;
  if (invariant_ && !(true_ < stagnation_factor * before)) {
    it_.stop(Outcome::breakdown,
             fmt::format("the basis of GMRES cannot be extended at a relative residual of {:.1e}: "
                         "the matrix or the preconditioner is singular; try another "
                         "preconditioner",
                         true_));
    return false;
  }
  if (!moved) {
    it_.stop(Outcome::stagnated,
             fmt::format("a whole cycle of GMRES did not reduce the relative residual of {:.1e}; "
                         "try a larger --restart or another preconditioner",
                         true_));
    return false;
  }
  return step != Step::verify || invariant_ || it_.attainable(true_);
}

/// Step j: one preconditioner, one product, two reductions. `verify` where x should be formed, the
/// iteration not being recorded yet.
template <class T>
typename Gmres<T>::Step Gmres<T>::extend(std::size_t j) {
  reserve(j + 2);
  if (it_.M() != nullptr) it_.M()->apply(V_[j], Z_[j]);
  it_.A().apply(directions(j + 1)[j], V_[j + 1]);
  std::vector<double> column;
  if (!orthogonalise(j, column)) return Step::stop;
  invariant_ = column.back() == 0;
  small_.append(std::move(column));
  const double estimate = small_.residual_norm() / it_.rhs_norm();
  if (invariant_ || it_.passes(estimate)) return Step::verify;
  return it_.record(estimate) ? Step::go_on : Step::stop;
}

/// Makes V_[j + 1] orthogonal to the basis by classical Gram-Schmidt, twice: as stable as the
/// modified form, and all the products of one pass need one reduction. The norm comes with the
/// second pass from Pythagoras' theorem, which is accurate since little is left to remove then.
template <class T>
bool Gmres<T>::orthogonalise(std::size_t j, std::vector<double>& column) {
  const std::span<T> w = V_[j + 1];
  column.resize(j + 2);
  std::vector<double> second(j + 2);
  dots_with_basis<T>(basis(j + 1), w, column);
  sum_parts(it_.comm(), column);
  const double length = std::sqrt(column.back());
  if (!std::isfinite(length)) {
    it_.stop(Outcome::not_finite,
             fmt::format("the product with the matrix is not finite in iteration {}: the matrix or "
                         "the preconditioner has NaN, infinite or huge entries",
                         it_.report().iterations + 1));
    return false;
  }
  project_and_dot<T>(basis(j + 1), std::span(column).first(j + 1), w, second);
  sum_parts(it_.comm(), second);
  double rest = second.back();
  for (std::size_t i = 0; i <= j; ++i) {
    column[i] += second[i];
    rest -= second[i] * second[i];
  }
  const double negligible = 10 * static_cast<double>(std::numeric_limits<T>::epsilon()) * length;
  const bool extends = rest > negligible * negligible;
  column.back() = extends ? std::sqrt(rest) : 0.0;
  if (extends) {
    combine<T>(basis(j + 1), std::span<const double>(second).first(j + 1), -1.0, 1 / column.back(),
               w);
  }
  return true;
}

/// Sets next_ to x plus the combination y of the directions and r_ to its residual, and returns the
/// relative norm of that.
template <class T>
double Gmres<T>::attempt(std::span<const double> y) {
  std::copy(it_.x().begin(), it_.x().end(), next_.begin());
  combine<T>(directions(y.size()), y, 1.0, 1.0, next_);
  return it_.residual_of(next_, r_);
}

/// Moves x to the minimiser of the cycle and recomputes r_ and true_. Where that falls short of the
/// residual the recurrence promised, a nearly singular small problem may be the cause: then the
/// truncated minimiser is tried, and the better one taken. False where x stays, neither being an
/// improvement.
template <class T>
bool Gmres<T>::move() {
  if (small_.n_columns() == 0) return false;
  constexpr double slack = 1.1;
  const std::vector<double> y = small_.solve();
  double relative = attempt(y);
  if (!(relative <= slack * it_.last())) {
    const double unit = std::numeric_limits<T>::epsilon();
    const double truncated = attempt(small_.solve_truncated(1e-2 * std::sqrt(unit)));
    relative = truncated < relative || std::isnan(relative) ? truncated : attempt(y);
  }
  if (!(relative < true_)) return false;
  true_ = relative;
  std::copy(next_.begin(), next_.end(), it_.x().begin());
  return true;
}

/// Makes room for n basis vectors, several at a time since all ranks have to agree that there is
/// memory for them.
template <class T>
void Gmres<T>::reserve(std::size_t n) {
  constexpr std::size_t batch = 8;
  if (n <= V_.size()) return;
  const std::size_t most = static_cast<std::size_t>(it_.options().restart) + 1;
  const std::size_t target = std::min(most, V_.size() + batch);
  mpi::collectively(it_.comm(), [&] {
    V_.resize(target, Array<T>(r_.size()));
    if (it_.M() != nullptr) Z_.resize(target, Array<T>(r_.size()));
  });
}

template <class T>
void Gmres<T>::examine_range() {
  const Outcome outcome = it_.report().outcome;
  if (outcome != Outcome::stagnated && outcome != Outcome::breakdown) return;
  it_.true_residual(r_);
  const RangeCheck check = check_range<T>(it_.A(), it_.M(), it_.b(), r_, it_.options().tolerance);
  if (check.outside) it_.stop(Outcome::inconsistent, check.diagnosis());
}

}  // namespace

template <class T>
Report gmres(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
             std::span<T> x, const Options& options, const Observer& observe) {
  const mpi::Scope scope(A.layout().comm(), "vector_updates", mpi::no_level);
  return Gmres<T>(A, preconditioner, b, x, options, observe).run();
}

template Report gmres(const Operator<double>&, const Operator<double>*, std::span<const double>,
                      std::span<double>, const Options&, const Observer&);
template Report gmres(const Operator<float>&, const Operator<float>*, std::span<const float>,
                      std::span<float>, const Options&, const Observer&);

}  // namespace nodewise::solve
