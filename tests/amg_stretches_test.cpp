// Residuals and products that follow a sweep through a matrix larger than a cache.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/relax/hybrid_sweeps.hpp"
#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/stretches.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/operations.hpp"

#include "amg_support.hpp"
#include "problem_support.hpp"
#include "smoother_support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace amg_stretches_test {

using relax::Direction;
using relax::Stretch;
using relax::Sweep;
using Matrix = matrix::DistMatrix<double>;
using Pairs = std::vector<std::pair<LocalIndex, LocalIndex>>;

Pairs passes(LocalIndex begin, const std::vector<LocalIndex>& ends,
             const std::vector<LocalIndex>& last_seen) {
  Pairs pairs;
  for (const Stretch& s : relax::stretches(begin, ends, last_seen)) {
    pairs.emplace_back(s.first, s.second);
  }
  return pairs;
}

TEST(Stretches, TheSecondPassWaitsForWhatItSees) {
  EXPECT_EQ(passes(0, {2, 4, 6, 8}, {3, 4, 7, 7}), (Pairs{{2, 0}, {4, 2}, {6, 4}, {8, 4}}));
  EXPECT_EQ(passes(5, {7, 9, 11}, {6, 8, 10}), (Pairs{{7, 7}, {9, 9}, {11, 9}}))
      << "rows that see none behind their stretch";
  EXPECT_EQ(passes(0, {2, 4, 6}, {5, 3, 5}), (Pairs{{2, 0}, {4, 0}, {6, 0}}))
      << "a first row that sees the last";
  EXPECT_EQ(passes(3, {}, {}), Pairs());
}

/// Sweeps that note which rows they pass.
class Passes : public relax::HybridSweeps<double> {
 public:
  explicit Passes(const Matrix& A)
      : HybridSweeps(A, {A.on().row_ptr, A.on().cols, A.off().row_ptr, A.exchange(), 1}) {
    plan_passes(Direction::forward);
    plan_passes(Direction::backward);
  }

  /// Checks that every row is swept once, in this direction, and none followed that sees one still
  /// to be swept; returns how many rows are left to follow.
  LocalIndex check(int part, Direction direction) const {
    const bool upwards = direction == Direction::forward;
    const auto begin_of = [&](const Range& range) { return upwards ? range.first : range.last; };
    const auto end_of = [&](const Range& range) { return upwards ? range.last : range.first; };
    LocalIndex swept = begin_of(all_of(part)), followed = swept;
    const auto sweep = [&](const Range& range) {
      EXPECT_EQ(begin_of(range), swept);
      EXPECT_LT(range.first, range.last);
      swept = end_of(range);
    };
    const auto is_swept = [&](LocalIndex row) { return upwards ? row < swept : row >= swept; };
    const auto follow = [&](const Range& range) {
      EXPECT_EQ(begin_of(range), followed);
      EXPECT_LT(range.first, range.last);
      followed = end_of(range);
      for_each_row(range, Direction::forward,
                   [&](LocalIndex, Offset begin, Offset end, auto is_mixed) {
                     for (Offset k = begin; k < end && !is_mixed; ++k) {
                       EXPECT_TRUE(is_swept(A_.on().cols[static_cast<std::size_t>(k)]));
                     }
                   });
    };
    const Range left = sweep_and_follow(part, direction, sweep, follow);
    EXPECT_EQ(swept, end_of(all_of(part)));
    EXPECT_EQ(begin_of(left), followed);
    EXPECT_EQ(end_of(left), end_of(all_of(part)));
    return left.last - left.first;
  }
  LocalIndex check_both_ways(int part) const {
    return std::max(check(part, Direction::forward), check(part, Direction::backward));
  }
  using HybridSweeps::n_parts;

  void first_sweep(std::span<const double>, std::span<double>) const override {}

 private:
  void sweep_rows(const Range&, Direction, const Vectors&) const override {}
};

Matrix problem(const std::string& kind, int n) {
  return io::generate<double>(test::test_comm(), {.problem = kind, .n = n});
}

Matrix random_problem() {
  return io::generate<double>(test::test_comm(), test::random_problem(60000, {.entries = 12}));
}

std::vector<int> thread_counts() {
  return test::can_test_threads() ? std::vector{1, 2, 3} : std::vector{1};
}

TEST(Stretches, MostRowsOfAGridFollowAtOnce) {
  const int ranks = test::test_comm()->size();
  const Matrix A = problem("laplace9", 336);  // 11 MB
  for (const int n : thread_counts()) {
    const test::Threads threads(n);
    const Passes sweeps(A);
    LocalIndex left = 0;
    for (int part = 0; part < sweeps.n_parts(); ++part) left += sweeps.check_both_ways(part);
    if (n * ranks <= 4) {
      EXPECT_LT(left, A.n_local() / 2);
    }
  }
}

TEST(Stretches, NoneFollowsWhatIsSmallOrSeesEverything) {
  const int ranks = test::test_comm()->size();
  const Matrix small = problem("laplace9", 90);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    EXPECT_EQ(Passes(small).check(0, direction), small.n_local());
  }
  if (ranks > 1) return;  // each has less to see
  const Matrix random = random_problem();
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    EXPECT_EQ(Passes(random).check(0, direction), random.n_local());
  }
}

/// A with some rows' diagonal set to zero.
Matrix without_some_diagonals(const Matrix& A) {
  Array<double> on(A.on().vals.begin(), A.on().vals.end());
  for (LocalIndex i = 17; i < A.n_local(); i += 1000) {
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto u = static_cast<std::size_t>(k);
      if (A.on().cols[u] == i) on[u] = 0;
    }
  }
  return A.with_values(std::move(on), Array<double>(A.off().vals.begin(), A.off().vals.end()));
}

using Vector = std::vector<double>;

/// Finite and equal up to round-off.
void expect_near(const Vector& a, const Vector& expected) {
  double difference = 0, size = 0;
  bool is_finite = true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    is_finite = is_finite && std::isfinite(a[i]);
    difference = std::max(difference, std::abs(a[i] - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  EXPECT_TRUE(is_finite);
  EXPECT_LE(difference, 1e-12 * size);
}

void expect_residual(const Matrix& A, const Options& options,
                     const relax::MatrixFacts& facts = {}) {
  const auto n = static_cast<std::size_t>(A.n_local());
  Vector b(n), x(n), expected_r(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = std::sin(static_cast<double>(i));
  // What was there before is not read.
  Vector y(n, std::nan("")), r(n, std::nan(""));
  const auto relaxation = relax::make_relaxation(A, options.smoother, facts);
  relaxation->first_sweep(b, x);
  relaxation->first_sweep_with_residual(b, y, r);
  EXPECT_EQ(x, y);
  matrix::residual(A, std::span<const double>(x), std::span<const double>(b),
                   std::span<double>(expected_r));
  expect_near(r, expected_r);
  std::fill(y.begin(), y.end(), std::nan(""));
  std::fill(r.begin(), r.end(), std::nan(""));
  relaxation->first_symmetric_sweep(b, x);
  relaxation->first_symmetric_sweep_with_residual(b, y, r);
  expect_near(y, x);
  matrix::residual(A, std::span<const double>(x), std::span<const double>(b),
                   std::span<double>(expected_r));
  expect_near(r, expected_r);
}

/// A sweep followed by the product is the sweep and the product, whether that is foreseen or not.
void expect_product(const Matrix& A, const Options& options, bool is_foreseen = true) {
  const auto n = static_cast<std::size_t>(A.n_local());
  Vector b(n), start(n), Ax(n);
  for (std::size_t i = 0; i < n; ++i) {
    b[i] = std::sin(static_cast<double>(i));
    start[i] = std::cos(static_cast<double>(3 * i));
  }
  const auto relaxation = relax::make_relaxation(
      A, options.smoother, {.spectral_radius = 1.5, .gives_product = is_foreseen});
  for (const Sweep sweep :
       {Sweep::first, Sweep::first_symmetric, Sweep::forward, Sweep::backward, Sweep::symmetric}) {
    Vector x = start, expected = start;
    Vector y(n, std::nan(""));  // what was there before is not read
    relaxation->sweep_with_product(sweep, b, x, y);
    relaxation->run(sweep, b, expected);
    expect_near(x, expected);
    matrix::multiply(A, std::span<const double>(x), std::span<double>(Ax));
    expect_near(y, Ax);
  }
}

TEST(Stretches, TheFirstSweepLeavesItsResidualAndOthersTheirProduct) {
  const Matrix grid = problem("laplace27", 24);
  const Matrix grids[] = {grid, problem("laplace9", 336), without_some_diagonals(grid),
                          random_problem()};
  for (const int n : thread_counts()) {
    const test::Threads threads(n);
    for (const Matrix& A : grids) {
      for (const std::string kind : {"gauss_seidel", "l1_gauss_seidel"}) {
        for (const double weight : {1.0, 1.3}) {
          Options options;
          options.smoother = kind;
          set_sor_weight(options, weight);
          expect_residual(A, options);
          if (matrix::is_symmetric(A)) expect_residual(A, options, {.is_symmetric = true});
          expect_product(A, options);
          expect_product(A, options, false);
        }
      }
    }
    Options options;
    options.smoother = "l1_block_gauss_seidel";
    expect_residual(grid.with_blocks(2), options);
    expect_residual(problem("laplace9", 336).with_blocks(2), options);
    expect_product(grid.with_blocks(2), options);
    options.smoother = "chebyshev";
    expect_product(grid, options);
  }
}

}  // namespace amg_stretches_test
}  // namespace nodewise::amg
