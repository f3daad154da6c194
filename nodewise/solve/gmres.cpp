// Restarted GMRES, preconditioned from the right, with one basis or, flexible, with two.
#include "nodewise/solve/gmres.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nodewise/kernels/dense.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// The small least-squares problem of GMRES: the Hessenberg matrix, made triangular column by
/// column with Givens rotations, and the rotated right-hand side. Local and the same on all ranks.
class LeastSquares {
 public:
  /// Makes room for so many columns; more find theirs later.
  void reserve(std::size_t n_columns) {
    triangle_.reserve(place(0, n_columns));
    for (std::vector<double>* numbers : {&cosines_, &sines_, &g_, &y_}) {
      numbers->reserve(n_columns + 1);
    }
  }

  void reset(double residual_norm) {
    triangle_.clear();
    cosines_.clear();
    sines_.clear();
    g_.assign(1, residual_norm);
  }

  /// Appends a column, which is used up: its entries down to and below the diagonal, one more than
  /// the one before.
  void append(std::span<double> column) {
    const std::size_t j = n_columns();
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
    triangle_.insert(triangle_.end(), column.begin(), column.end() - 1);
    g_.push_back(-sines_[j] * g_[j]);
    g_[j] *= cosines_[j];
  }

  double residual_norm() const { return std::abs(g_.back()); }

  std::size_t n_columns() const { return cosines_.size(); }

  /// The minimiser, by back substitution; there until the next call.
  std::span<const double> solve() {
    y_.assign(g_.begin(), g_.end() - 1);
    for (std::size_t j = n_columns(); j-- > 0;) {
      const double* const column = triangle_.data() + place(0, j);
      y_[j] = column[j] == 0 ? 0.0 : y_[j] / column[j];
      for (std::size_t i = 0; i < j; ++i) y_[i] -= y_[j] * column[i];
    }
    return y_;
  }

  /// The shortest minimiser, singular values below `threshold` times the largest pivot being taken
  /// for zero: for a singular matrix, where solve() may return something huge.
  std::vector<double> solve_truncated(double threshold) const {
    const std::size_t n = n_columns();
    std::vector<double> R(n * n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i <= j; ++i) R[j * n + i] = triangle_[place(i, j)];
    }
    return kernels::shortest_solution(R, std::span(g_).first(n), threshold);
  }

 private:
  /// Of entry (i, j) of the triangular matrix.
  static std::size_t place(std::size_t i, std::size_t j) { return j * (j + 1) / 2 + i; }

  std::vector<double> triangle_;  // the columns, each down to its diagonal
  std::vector<double> cosines_, sines_, g_, y_;
};

/// Steps of a cycle that room for small numbers is made for beforehand.
constexpr int likely_columns = 128;

/// Whether the preconditioned basis is kept, or made again from the basis when x is formed.
enum class Form { fixed, flexible };

int restart_of(const Choice<KrylovMethod>& method) {
  return method.options<GmresOptions>().restart;
}

template <class T>
class Gmres {
 public:
  Gmres(Form form, const KrylovCall<T>& call)
      : it_(call),
        restart_(restart_of(call.method)),
        keeps_Z_(call.M != nullptr && form == Form::flexible) {
    mpi::collectively(it_.comm(), [&] {
      r_.resize(call.b.size());
      next_.resize(call.b.size());
      if (call.M != nullptr && !keeps_Z_) z_.resize(call.b.size());
      const auto n = static_cast<std::size_t>(std::min(restart_, likely_columns));
      small_.reserve(n);
      column_.reserve(n + 1);
      second_.reserve(n + 1);
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      true_ = it_.last();
      while (cycle()) {
      }
    }
    // x is as good as the start at least, but not as zero where the start was worse.
    const bool failed = !it_.report().converged() && it_.report().iterations > 0;
    if (failed && !it_.was_cut_short() && true_ > 1) std::fill(it_.x().begin(), it_.x().end(), T{});
    it_.examine_range(r_);
    return it_.finish(r_);
  }

 private:
  enum class Step { go_on, verify, stop };

  bool cycle();
  Step extend(std::size_t j);
  bool orthogonalise(std::size_t j);
  double attempt(std::span<const double> y);
  bool move();
  void reserve(std::size_t n);
  std::string advice() const;
  std::span<const Array<T>> basis(std::size_t n) const { return std::span(V_).first(n); }
  /// M V[j] in the place where it is kept or may be made; V[j] without preconditioner.
  Array<T>& direction(std::size_t j) {
    if (it_.M() == nullptr) return V_[j];
    return keeps_Z_ ? Z_[j] : z_;
  }

  Iteration<T> it_;
  int restart_;
  bool keeps_Z_;
  Array<T> r_, next_;        // b - A x; the next x
  std::vector<Array<T>> V_;  // orthonormal basis
  std::vector<Array<T>> Z_;  // its preconditioned vectors, of the flexible form
  Array<T> z_;               // one preconditioned vector, of the other
  LeastSquares small_;
  std::vector<double> column_, second_;  // see orthogonalise()
  double true_ = 0;                      // the relative norm of r_
  bool invariant_ = false;               // the basis cannot be extended
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
  for (std::size_t j = 0; step == Step::go_on && std::cmp_less(j, restart_); ++j) {
    step = extend(j);
  }
  const bool moved = move();
  if (step == Step::stop) return false;
  if (step == Step::verify && !it_.record(true_)) return false;
  if (invariant_ && !(true_ < stagnation_factor * before)) {
    it_.stop(Outcome::breakdown,
             fmt::format("the basis of GMRES cannot be extended at a relative residual of {:.1e}: "
                         "the matrix or the preconditioner is singular; try another "
                         "preconditioner{}",
                         true_, advice()));
    return false;
  }
  if (!moved) {
    it_.stop(Outcome::stagnated,
             fmt::format("a whole cycle of GMRES did not reduce the relative residual of {:.1e}; "
                         "try a larger `restart` or another preconditioner{}",
                         true_, advice()));
    return false;
  }
  return step != Step::verify || invariant_ || it_.attainable(true_);
}

/// Step j: one preconditioner, one product, two reductions. `verify` where x should be formed, the
/// iteration not being recorded yet.
template <class T>
typename Gmres<T>::Step Gmres<T>::extend(std::size_t j) {
  reserve(j + 2);
  it_.apply_both(V_[j], direction(j), V_[j + 1]);
  if (!orthogonalise(j)) return Step::stop;
  invariant_ = column_.back() == 0;
  small_.append(column_);
  const double estimate = small_.residual_norm() / it_.rhs_norm();
  if (invariant_ || it_.passes(estimate)) return Step::verify;
  return it_.record(estimate) ? Step::go_on : Step::stop;
}

/// Makes V_[j + 1] orthogonal to the basis, and column_ of the products, by classical Gram-Schmidt,
/// twice: as stable as the modified form, and all the products of one pass need one reduction. The
/// norm comes with the second pass from Pythagoras' theorem, which is accurate since little is left
/// to remove then.
template <class T>
bool Gmres<T>::orthogonalise(std::size_t j) {
  const std::span<T> w = V_[j + 1];
  column_.resize(j + 2);
  second_.resize(j + 2);
  const std::span<double> column = column_;
  const std::span<double> second = second_;
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
  project_and_dot<T>(basis(j + 1), column.first(j + 1), w, second);
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
    combine<T>(basis(j + 1), second.first(j + 1), -1.0, 1 / column.back(), w);
  }
  return true;
}

/// Sets next_ to x plus the combination y of the directions and r_ to its residual, and returns the
/// relative norm of that. Without the directions it is M times the combination of the basis.
template <class T>
double Gmres<T>::attempt(std::span<const double> y) {
  if (it_.M() == nullptr || keeps_Z_) {
    std::copy(it_.x().begin(), it_.x().end(), next_.begin());
    combine<T>(std::span(keeps_Z_ ? Z_ : V_).first(y.size()), y, 1.0, 1.0, next_);
  } else {
    std::fill(r_.begin(), r_.end(), T{});
    combine<T>(basis(y.size()), y, 1.0, 1.0, r_);
    it_.M()->apply(r_, next_);
    axpy<T>(1.0, it_.x(), next_);
  }
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
  const std::span<const double> y = small_.solve();
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
  const std::size_t most = static_cast<std::size_t>(restart_) + 1;
  const std::size_t target = std::min(most, V_.size() + batch);
  mpi::collectively(it_.comm(), [&] {
    V_.resize(target, Array<T>(r_.size()));
    if (keeps_Z_) Z_.resize(target, Array<T>(r_.size()));
  });
}

/// What else may help after a cycle without gain.
template <class T>
std::string Gmres<T>::advice() const {
  // What the recurrence saw and what came of it are the same for a map that does not change.
  const bool parted =
      it_.M() != nullptr && !keeps_Z_ && small_.residual_norm() < 0.5 * true_ * it_.rhs_norm();
  return parted ? ", or `solver fgmres` if the preconditioner is not always the same linear map"
                : "";
}

template <class T>
Report gmres_by(const KrylovCall<T>& call) {
  return Gmres<T>(Form::fixed, call).run();
}

template <class T>
Report fgmres_by(const KrylovCall<T>& call) {
  return Gmres<T>(Form::flexible, call).run();
}

}  // namespace

std::span<const Field<GmresOptions>> gmres_fields() {
  static const std::vector<Field<GmresOptions>> fields = {field(
      "restart", &GmresOptions::restart, "Basis vectors that are kept before a restart", 1, 10000)};
  return fields;
}

const KrylovMethod& gmres_method() {
  static const KrylovMethod method = {
      {"gmres", "restarted GMRES, for any matrix", "Saad, Schultz 1986", own_options(gmres_fields)},
      {
          .title = "GMRES",
          .suited_for = SuitedFor::any_matrix,
          .minimises_residual = true,
          .knows_all_norms = false,
          .needs_symmetric_preconditioner = false,
          .needs_fixed_preconditioner = true,
          .when_stagnated = "try a larger `restart`, or another smoother or preconditioner",
          .cost =
              [](const Choice<KrylovMethod>& chosen) {
                const int m = restart_of(chosen);
                return KrylovCost{.longest_sum = m + 1, .vectors = m + 4};
              },
          .in_double = KrylovFunctions<double>{gmres_by<double>},
          .in_float = KrylovFunctions<float>{gmres_by<float>},
      }};
  return method;
}

const KrylovMethod& fgmres_method() {
  static const KrylovMethod method = {
      {"fgmres", "the same for a preconditioner that may change from step to step", "Saad 1993",
       own_options(gmres_fields)},
      {
          .title = "flexible GMRES",
          .suited_for = SuitedFor::any_matrix,
          .minimises_residual = true,
          .knows_all_norms = false,
          .needs_symmetric_preconditioner = false,
          .needs_fixed_preconditioner = false,
          .when_stagnated = "try a larger `restart`, or another smoother or preconditioner",
          .cost =
              [](const Choice<KrylovMethod>& chosen) {
                const int m = restart_of(chosen);
                return KrylovCost{.longest_sum = m + 1, .vectors = 2 * m + 4};
              },
          .in_double = KrylovFunctions<double>{fgmres_by<double>},
          .in_float = KrylovFunctions<float>{fgmres_by<float>},
      }};
  return method;
}

}  // namespace nodewise::solve
