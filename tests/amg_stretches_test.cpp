// Residuals that follow a sweep through a matrix larger than a cache.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/relax/hybrid_sweeps.hpp"
#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/stretches.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/operations.hpp"

#include "amg_support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace {

using io::Problem;
using relax::Stretch;
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
      : HybridSweeps(A, {A.on().row_ptr, A.on().cols, A.off().row_ptr, A.exchange(), 1}) {}

  /// Checks that every row is swept once, upwards, and none followed that sees one still to be
  /// swept; returns how many rows are left to follow.
  LocalIndex check(int part) const {
    LocalIndex swept = first_row(part), followed = swept;
    const auto sweep = [&](const Range& range) {
      EXPECT_EQ(range.first, swept);
      EXPECT_LT(range.first, range.last);
      swept = range.last;
    };
    const auto follow = [&](const Range& range) {
      EXPECT_EQ(range.first, followed);
      followed = range.last;
      for_each_row(range, relax::Direction::forward,
                   [&](LocalIndex, Offset begin, Offset end, auto is_mixed) {
                     for (Offset k = begin; k < end && !is_mixed; ++k) {
                       EXPECT_LT(A_.on().cols[static_cast<std::size_t>(k)], swept);
                     }
                   });
    };
    const Range left = sweep_and_follow(part, sweep, follow);
    EXPECT_EQ(swept, end_row(part));
    EXPECT_EQ(left.first, followed);
    EXPECT_EQ(left.last, end_row(part));
    return left.last - left.first;
  }
  using HybridSweeps::n_parts;

  void first_sweep(std::span<const double>, std::span<double>) const override {}

 private:
  void sweep_part(int, relax::Direction, const Vectors&) const override {}
};

Matrix problem(Problem kind, int n, int entries = 8) {
  return io::generate<double>(test::test_comm(), {.problem = kind, .n = n, .entries = entries});
}

std::vector<int> thread_counts() {
  return test::can_test_threads() ? std::vector{1, 2, 3} : std::vector{1};
}

TEST(Stretches, MostRowsOfAGridFollowAtOnce) {
  const int ranks = test::test_comm()->size();
  const Matrix A = problem(Problem::laplace9, 336);  // 11 MB
  for (const int n : thread_counts()) {
    const test::Threads threads(n);
    const Passes sweeps(A);
    LocalIndex left = 0;
    for (int part = 0; part < sweeps.n_parts(); ++part) left += sweeps.check(part);
    if (n * ranks <= 4) {
      EXPECT_LT(left, A.n_local() / 2);
    }
  }
}

TEST(Stretches, NoneFollowsWhatIsSmallOrSeesEverything) {
  const int ranks = test::test_comm()->size();
  const Matrix small = problem(Problem::laplace9, 90);
  EXPECT_EQ(Passes(small).check(0), small.n_local());
  if (ranks > 1) return;  // each has less to see
  const Matrix random = problem(Problem::random, 60000, 12);
  EXPECT_EQ(Passes(random).check(0), random.n_local());
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

void expect_residual(const Matrix& A, const Options& options) {
  const auto n = static_cast<std::size_t>(A.n_local());
  std::vector<double> b(n), x(n), expected_r(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = std::sin(static_cast<double>(i));
  // What was there before is not read.
  std::vector<double> y(n, std::nan("")), r(n, std::nan(""));
  const auto relaxation = relax::make_relaxation(A, options, 0);
  relaxation->first_sweep(b, x);
  relaxation->first_sweep_with_residual(b, y, r);
  EXPECT_EQ(x, y);
  matrix::residual(A, std::span<const double>(x), std::span<const double>(b),
                   std::span<double>(expected_r));
  double difference = 0, size = 0;
  bool is_finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    is_finite = is_finite && std::isfinite(r[i]);
    difference = std::max(difference, std::abs(r[i] - expected_r[i]));
    size = std::max(size, std::abs(expected_r[i]));
  }
  EXPECT_TRUE(is_finite);
  EXPECT_LE(difference, 1e-12 * size);
}

TEST(Stretches, TheFirstSweepLeavesItsResidual) {
  const Matrix grid = problem(Problem::laplace27, 24);
  const Matrix grids[] = {grid, problem(Problem::laplace9, 336), without_some_diagonals(grid),
                          problem(Problem::random, 60000, 12)};
  for (const int n : thread_counts()) {
    const test::Threads threads(n);
    for (const Matrix& A : grids) {
      for (const SmootherKind kind : {SmootherKind::gauss_seidel, SmootherKind::l1_gauss_seidel}) {
        for (const double weight : {1.0, 1.3}) {
          Options options;
          options.smoother = kind;
          options.sor_weight = weight;
          expect_residual(A, options);
        }
      }
    }
    Options options;
    options.smoother = SmootherKind::l1_block_gauss_seidel;
    expect_residual(grid.with_blocks(2), options);
    expect_residual(problem(Problem::laplace9, 336).with_blocks(2), options);
  }
}

}  // namespace
}  // namespace nodewise::amg
