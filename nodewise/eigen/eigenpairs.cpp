#include "nodewise/eigen/eigenpairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/eigen/bounds.hpp"
#include "nodewise/eigen/small.hpp"
#include "nodewise/eigen/tall.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/asymmetry.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::eigen {

namespace {

using solve::Outcome;

/// -A, whose lowest eigenpairs are the highest of A.
class Negated final : public solve::Operator<double> {
 public:
  explicit Negated(const solve::Operator<double>& A) : A_(A) {}
  const comm::Layout& layout() const override { return A_.layout(); }
  void apply(std::span<const double> x, std::span<double> y) const override {
    A_.apply(x, y);
    solve::scale<double>(-1.0, y);
  }
  void apply_block(std::span<const double> X, std::span<double> Y, int width,
                   std::span<double> work) const override {
    A_.apply_block(X, Y, width, work);
    solve::scale<double>(-1.0, Y);
  }

 private:
  const solve::Operator<double>& A_;
};

std::uint64_t hash_of_search(const Problem& problem, const Options& options,
                             const solve::Observer& observe) {
  std::uint64_t h = hash64(problem.mass != nullptr, problem.preconditioner != nullptr);
  h = hash64(h, hash_of(options, option_fields()));
  h = hash64(h, static_cast<std::uint64_t>(options.max_iterations));
  h = hash64(h, static_cast<std::uint64_t>(1e18 * options.tolerance));
  return hash64(h, observe.may_stop() ? static_cast<std::uint64_t>(observe.interval()) : 0);
}

void check_range(const Problem& problem, const Options& options) {
  check_options(options, option_fields());
  if (!(options.tolerance >= 0 && options.tolerance <= 1) || options.max_iterations < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("eigen: a tolerance of {} and {} iterations; the first is to be in "
                            "[0, 1], the other at least 0",
                            options.tolerance, options.max_iterations));
  }
  const comm::Layout& rows = problem.A.layout();
  if (options.pairs > rows.n_global()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("option pairs: {} are wanted, but the matrix has {}", options.pairs,
                            counted(rows.n_global(), "row")));
  }
  for (const auto* other : {problem.mass, problem.preconditioner, problem.mass_preconditioner}) {
    if (other != nullptr && !(other->layout() == rows)) {
      throw Error(ErrorCode::dimension_mismatch,
                  "eigen: the mass matrix and the preconditioner must be laid out as the matrix");
    }
  }
}

void check_method(const Problem& problem, const Options& options) {
  const EigenMethod& method = *options.eigensolver;
  if (problem.mass != nullptr && !method.takes_mass) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("option eigensolver: {} is not for a mass matrix; take `eigensolver "
                            "lobpcg`",
                            *method.name));
  }
  if (problem.preconditioner == nullptr) return;
  if (!method.takes_preconditioner) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("option eigensolver: {} has no use for a preconditioner; take "
                            "`preconditioner none`, or `eigensolver lobpcg`",
                            *method.name));
  }
  if (options.which == Which::largest) {
    throw Error(ErrorCode::invalid_argument,
                "option which: a preconditioner is for the smallest; take `preconditioner none`");
  }
}

/// Collective. Throws where a matrix is not symmetric; NaN is for the iteration to find.
void require_symmetric(const solve::Operator<double>& A, const char* what) {
  constexpr double round_off = 1e-10;
  const double asymmetry = solve::asymmetry(A);
  if (!(asymmetry > round_off)) return;
  throw Error(ErrorCode::unsuitable_matrix,
              fmt::format("eigen: {} is not symmetric: x.(A y) and (A x).y differ by {:.1e} of "
                          "their size",
                          what, asymmetry));
}

/// Collective. The root mean square of the eigenvalues, by a few random vectors: one product of a
/// block and two reductions. NaN where numbers are so small that their squares vanish.
double estimate_norm(const solve::Operator<double>& A, std::uint64_t seed, Work& work) {
  constexpr std::size_t width = 4;
  const auto n = static_cast<std::size_t>(A.layout().n_local());
  Array<double> X, AX, room;
  mpi::collectively(A.layout().comm(), [&] {
    X.resize(n * width);
    AX.resize(n * width);
    room.resize(2 * n);
  });
  fill_random(A.layout(), hash64(seed, 0x6e6f726d), width, X);
  apply_columns(A, {X, width}, AX, room);
  ++work.reductions;
  const auto [xx, aa] = solve::sum_all(A.layout().comm(), solve::dot_local<double>(X, X),
                                       solve::dot_local<double>(AX, AX));
  constexpr double least = 1e-140;
  const double largest = mpi::max(A.layout().comm(), solve::max_abs<double>(AX));
  if (largest > 0 && largest < least) return std::numeric_limits<double>::quiet_NaN();
  return xx == 0 ? 0 : std::sqrt(aa / xx);
}

/// The vectors that were found, made Ritz vectors, and what is known of them.
class Examined {
 public:
  Examined(const EigenCall& call, const solve::Operator<double>* mass_preconditioner, Found& found);
  /// Collective. Fills in the pairs; false where the numbers are not finite.
  bool examine(std::span<Eigenpair> pairs);
  std::span<const double> vectors() const { return X_; }

 private:
  const mpi::Comm& comm() const { return call_.A.layout().comm(); }
  std::span<const double> BX() const { return call_.B == nullptr ? X_ : BX_; }
  bool make_ritz_vectors();
  void take_quotients(std::span<const double> H, std::span<const double> G);
  void find_residuals();
  void find_bounds(std::span<Eigenpair> pairs);
  void turn(Array<double>& block, std::span<const double> C);

  const EigenCall& call_;
  const solve::Operator<double>* mass_preconditioner_;
  Found& found_;
  std::size_t width_;
  Array<double> X_, AX_, BX_, R_, work_;
  std::vector<double> values_, sums_;  // sums_: squares of the residuals, then of the vectors
};

Examined::Examined(const EigenCall& call, const solve::Operator<double>* mass_preconditioner,
                   Found& found)
    : call_(call),
      mass_preconditioner_(mass_preconditioner),
      found_(found),
      width_(found.width),
      X_(std::move(found.X)) {
  const auto n = static_cast<std::size_t>(call.A.layout().n_local());
  mpi::collectively(comm(), [&] {
    AX_.resize(n * width_);
    R_.resize(n * width_);
    if (call_.B != nullptr) BX_.resize(n * width_);
    work_.resize(2 * n);
    sums_.resize(2 * width_);
  });
}

void Examined::turn(Array<double>& block, std::span<const double> C) {
  std::fill(R_.begin(), R_.end(), 0.0);
  add_product({block, width_}, C, 1.0, width_, R_);
  std::swap(block, R_);
}

/// The Rayleigh quotients, for vectors that are left as they are, but for their order: round-off
/// may have exchanged those of equal values.
void Examined::take_quotients(std::span<const double> H, std::span<const double> G) {
  const auto quotient = [&](std::size_t c) { return H[c * width_ + c] / G[c * width_ + c]; };
  std::vector<std::size_t> order(width_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return quotient(a) < quotient(b); });
  values_.clear();
  for (const std::size_t c : order) values_.push_back(quotient(c));
  if (std::is_sorted(order.begin(), order.end())) return;
  std::vector<double> permutation(width_ * width_, 0.0);
  for (std::size_t c = 0; c < width_; ++c) permutation[order[c] * width_ + c] = 1;
  turn(X_, permutation);
  turn(AX_, permutation);
  if (call_.B != nullptr) turn(BX_, permutation);
}

/// X = X C for the C of A X C = B X C diag(values) within the space of X.
bool Examined::make_ritz_vectors() {
  Work& work = found_.work;
  work.product_calls += apply_columns(call_.A, {X_, width_}, AX_, work_);
  work.products += static_cast<int>(width_);
  if (call_.B != nullptr) {
    apply_columns(*call_.B, {X_, width_}, BX_, work_);
    work.mass_products += static_cast<int>(width_);
  }
  std::vector<double> sums(2 * width_ * width_);
  const std::span<double> H = std::span(sums).first(width_ * width_);
  const std::span<double> G = std::span(sums).last(width_ * width_);
  gram_local({X_, width_}, {AX_, width_}, H);
  gram_local({X_, width_}, {BX(), width_}, G);
  solve::sum_parts(comm(), sums);
  ++work.reductions;
  const std::optional<SmallPairs> small = solve_small(H, G, width_);
  if (!small) return false;
  if (found_.are_ritz_vectors) {
    take_quotients(H, G);
    return true;
  }
  values_ = small->values;
  turn(X_, small->vectors);
  turn(AX_, small->vectors);
  if (call_.B != nullptr) turn(BX_, small->vectors);
  return true;
}

/// R = A X - B X diag(values), and its norms.
void Examined::find_residuals() {
  const std::span<const double> bx = BX();
  for (std::size_t i = 0; i < R_.size(); i += width_) {
    for (std::size_t c = 0; c < width_; ++c) R_[i + c] = AX_[i + c] - values_[c] * bx[i + c];
  }
  squares_local({R_, width_}, std::span(sums_).first(width_));
  squares_local({X_, width_}, std::span(sums_).last(width_));
  solve::sum_parts(comm(), sums_);
  ++found_.work.reductions;
}

/// By the root of r.(B^-1 r), for which B y = r is solved to far below what is told of it.
void Examined::find_bounds(std::span<Eigenpair> pairs) {
  if (call_.B == nullptr) {
    for (std::size_t c = 0; c < width_; ++c) pairs[c].bound = pairs[c].residual;
    return;
  }
  std::fill(AX_.begin(), AX_.end(), 0.0);  // has become y
  const solve::Options options = {.tolerance = 1e-7};
  const std::vector<solve::Report> reports = solve::simultaneous_cg<double>(
      *call_.B, mass_preconditioner_, R_, AX_, static_cast<int>(width_), options);
  std::vector<double> dots(width_);
  solve::dot_columns<double>(R_, AX_, dots);
  solve::sum_parts(comm(), dots);
  ++found_.work.reductions;
  for (std::size_t c = 0; c < width_; ++c) {
    const bool known = reports[c].converged() && dots[c] >= 0;
    pairs[c].bound = known ? std::sqrt(dots[c]) : std::numeric_limits<double>::quiet_NaN();
  }
}

bool Examined::examine(std::span<Eigenpair> pairs) {
  if (!make_ritz_vectors()) return false;
  find_residuals();
  const double norm = std::max(call_.norm, found_.largest);
  for (std::size_t c = 0; c < width_; ++c) {
    Eigenpair& pair = pairs[c];
    pair.value = values_[c];
    pair.residual = std::sqrt(sums_[c]);
    const double size =
        (norm + std::abs(pair.value) * call_.mass_norm) * std::sqrt(sums_[width_ + c]);
    pair.relative_residual = size > 0 ? pair.residual / size : pair.residual;
    pair.converged = pair.relative_residual <= call_.options.tolerance;
    if (c < found_.since.size() && pair.converged) {
      pair.converged_at = found_.since[c] >= 0 ? found_.since[c] : found_.iterations;
    }
  }
  find_bounds(pairs);
  set_quadratic_bounds(pairs, found_.beyond);
  return true;
}

/// The outcome as the vectors say, whatever the recurrence said.
void judge(Report& report, double tolerance) {
  const int n = report.n_converged();
  if (report.outcome != Outcome::converged || std::cmp_equal(n, report.pairs.size())) return;
  double worst = 0;
  for (const Eigenpair& pair : report.pairs) worst = std::max(worst, pair.relative_residual);
  report.outcome = Outcome::stagnated;
  report.diagnosis = fmt::format(
      "the residuals computed from the vectors stay at {:.1e}, above the tolerance of {:.1e}: that "
      "is below what can be reached; raise `tolerance`",
      worst, tolerance);
}

/// Collective. Refuses what cannot be done.
void check_call(const Problem& problem, const Options& options, const solve::Observer& observe) {
  std::uint64_t hash = 0;
  const auto error = mpi::caught([&] {
    check_range(problem, options);
    check_method(problem, options);
    hash = hash_of_search(problem, options, observe);
  });
  mpi::agree_on_same(problem.A.layout().comm(), error,
                     {hash, "eigen: options, mass matrix and preconditioner"});
  require_symmetric(problem.A, "the matrix");
  if (problem.mass != nullptr) require_symmetric(*problem.mass, "the mass matrix");
}

/// Of the vectors found, the wanted ones.
std::vector<double> wanted_columns(std::span<const double> X, std::size_t width,
                                   std::size_t wanted) {
  const std::size_t n = X.size() / width;
  std::vector<double> vectors(n * wanted);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(X.data() + i * width, wanted, vectors.data() + i * wanted);
  }
  return vectors;
}

/// Collective. What was found, with all that is to be said of it.
Eigenpairs examined(const EigenCall& call, const solve::Operator<double>* mass_preconditioner,
                    Found found) {
  Eigenpairs result;
  Report& report = result.report;
  report.method = call.method.name();
  report.outcome = found.outcome;
  report.diagnosis = found.diagnosis;
  report.iterations = found.iterations;
  report.norm = std::max(call.norm, found.largest);
  report.mass_norm = call.mass_norm;
  report.history = std::move(found.history);
  const auto pairs = static_cast<std::size_t>(call.options.pairs);
  if (found.width >= pairs) {
    Examined vectors(call, mass_preconditioner, found);
    report.pairs.resize(found.width);
    if (vectors.examine(report.pairs)) {
      result.vectors = wanted_columns(vectors.vectors(), found.width, pairs);
      report.pairs.resize(pairs);
      judge(report, call.options.tolerance);
    } else {
      report.pairs.clear();
      if (report.diagnosis.empty()) {
        report.outcome = Outcome::breakdown;
        report.diagnosis = "the vectors found do not span as many dimensions as they are";
      }
    }
  }
  report.work = found.work;
  return result;
}

}  // namespace

int Report::n_converged() const {
  return static_cast<int>(std::count_if(pairs.begin(), pairs.end(),
                                        [](const Eigenpair& pair) { return pair.converged; }));
}

Eigenpairs find_eigenpairs(const Problem& problem, const Options& options,
                           const solve::Observer& observe) {
  const Timer timer;
  check_call(problem, options, observe);
  const Negated negated(problem.A);
  const bool largest = options.which == Which::largest;
  const solve::Operator<double>& A = largest ? negated : problem.A;
  Work of_norms;
  const auto seed = static_cast<std::uint64_t>(options.start_seed);
  const double norm = estimate_norm(A, seed, of_norms);
  const double mass_norm =
      problem.mass == nullptr ? 0 : estimate_norm(*problem.mass, seed, of_norms);
  const EigenCall call = {
      A,    problem.mass, problem.preconditioner, options.eigensolver, options, observe,
      norm, mass_norm};
  Found found;
  if (std::isfinite(norm) && std::isfinite(mass_norm)) {
    found = (*options.eigensolver->solve)(call);
  } else {
    found.outcome = Outcome::not_finite;
    found.diagnosis =
        "the matrix or the mass matrix has NaN or infinite entries, or such that their squares "
        "leave the range of double precision; scale it";
  }
  found.work.reductions += of_norms.reductions;
  Eigenpairs result = examined(call, problem.mass_preconditioner, std::move(found));
  if (largest) {
    for (Eigenpair& pair : result.report.pairs) pair.value = -pair.value;
  }
  result.report.seconds = timer.seconds();
  return result;
}

}  // namespace nodewise::eigen
