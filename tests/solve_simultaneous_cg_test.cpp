// Several right-hand sides at once: each as if it were alone, in the messages of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/solve/block_ops.hpp"

#include "mpi_counter.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_simultaneous_cg_test {

using solve::Options;
using solve::Outcome;
using solve::Report;
using solve::ResidualNorm;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double dominant(GlobalIndex i, GlobalIndex j) {
  return laplace(i, j) + (i == j ? 0.1 + 0.01 * static_cast<double>(i) : 0.0);
}

/// The columns side by side.
template <class T>
std::vector<T> side_by_side(const std::vector<std::vector<T>>& columns) {
  std::vector<T> block(columns.size() * columns.front().size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    solve::set_column<T>(columns[c], columns.size(), c, block);
  }
  return block;
}

template <class T>
std::vector<T> column(const std::vector<T>& block, std::size_t width, std::size_t c) {
  std::vector<T> x(block.size() / width);
  solve::get_column<T>(block, width, c, x);
  return x;
}

TEST(MatrixOperator, MultipliesBlocksAsVectorsOneByOne) {
  for (const comm::Layout& layout : {uniform(41), on_last_rank(41), uniform(2), uniform(0)}) {
    const auto A = make_operator(layout, dominant);
    const auto n = static_cast<std::size_t>(layout.n_local());
    std::vector<double> work(2 * n);
    for (const int width : {1, 3, 8}) {
      const auto w = static_cast<std::size_t>(width);
      std::vector<std::vector<double>> columns;
      for (std::size_t c = 0; c < w; ++c) columns.push_back(hashed_vector(layout, c));
      const std::vector<double> X = side_by_side(columns);
      std::vector<double> Y(n * w), one_by_one(n * w);
      A.apply_block(X, Y, width, work);
      A.Operator<double>::apply_block(X, one_by_one, width, work);
      for (std::size_t i = 0; i < Y.size(); ++i) EXPECT_NEAR(Y[i], one_by_one[i], 1e-14);
    }
  }
}

TEST(SimultaneousCg, SolvesEverySystemAsIfItWereAlone) {
  // Up to where a sum of squares leaves the range of double.
  const auto size = [](std::size_t c) { return std::pow(1e40, static_cast<double>(c)); };
  for (const comm::Layout& layout : {uniform(70), on_last_rank(70)}) {
    const auto A = make_operator(layout, dominant);
    const Pointwise<double> M(layout, [](GlobalIndex i, double r) { return r / dominant(i, i); });
    for (const int width : {1, 2, 5}) {
      for (const ResidualNorm norm : {ResidualNorm::unpreconditioned, ResidualNorm::natural}) {
        const auto w = static_cast<std::size_t>(width);
        std::vector<std::vector<double>> rhs, guess;
        for (std::size_t c = 0; c < w; ++c) {
          rhs.push_back(hashed_vector(layout, c));
          guess.push_back(hashed_vector(layout, 100 + c));
          for (double& value : rhs[c]) value *= size(c);
          if (c == 1) guess[c].assign(guess[c].size(), 0.0);
        }
        const Options options{.norm = norm};
        std::vector<double> X = side_by_side(guess);
        const std::vector<Report> reports =
            solve::simultaneous_cg<double>(A, &M, side_by_side(rhs), X, width, options);
        ASSERT_EQ(reports.size(), w);
        for (std::size_t c = 0; c < w; ++c) {
          std::vector<double> x = guess[c];
          const Report alone = solve::cg<double>(A, &M, rhs[c], x, options);
          EXPECT_EQ(reports[c].outcome, Outcome::converged) << reports[c].diagnosis;
          EXPECT_EQ(reports[c].iterations, alone.iterations);
          std::vector<double> found = column(X, w, c);
          for (double& value : found) value /= size(c);
          for (double& value : rhs[c]) value /= size(c);
          const double residual = dense_residual(dominant, rhs[c], found);
          EXPECT_LE(residual, 1e-7);
          EXPECT_NEAR(reports[c].true_relative_residual, residual, 1e-12);
          expect_same_on_all_ranks(reports[c]);
        }
      }
    }
  }
}

TEST(SimultaneousCg, SinglePrecision) {
  const comm::Layout layout = uniform(30);
  const auto A = make_operator<float>(layout, dominant);
  const auto b = make_vector<float>(layout, [](GlobalIndex i) { return 1.0 + double(i % 3); });
  const auto c = make_vector<float>(layout, [](GlobalIndex i) { return double(i % 4) - 1.0; });
  std::vector<float> X(2 * b.size(), 0.0F);
  const std::vector<Report> reports = solve::simultaneous_cg<float>(
      A, nullptr, side_by_side<float>({b, c}), X, 2, {.tolerance = 1e-5});
  for (const Report& report : reports) EXPECT_TRUE(report.converged()) << report.diagnosis;
  EXPECT_LE(dense_residual(dominant, b, column(X, 2, 0)), 1.5e-5);
  EXPECT_LE(dense_residual(dominant, c, column(X, 2, 1)), 1.5e-5);
}

// A system that fails, or has nothing to do, leaves the others alone.
TEST(SimultaneousCg, EachSystemHasItsOwnEnd) {
  const GlobalIndex n = 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  const auto centred = [](GlobalIndex i) {
    return static_cast<double>(i) - static_cast<double>(n - 1) / 2;
  };
  const std::vector<double> good = make_vector(layout, centred);
  const std::vector<double> outside =
      make_vector(layout, [&](GlobalIndex i) { return centred(i) + 1; });
  const std::vector<double> spoilt =
      make_vector(layout, [](GlobalIndex i) { return i == 7 ? nan : 1.0; });
  const std::vector<double> zero(good.size(), 0.0);
  std::vector<double> known = make_vector(layout, [](GlobalIndex i) { return double(i % 5); });
  std::vector<double> image(known.size());
  A.apply(known, image);
  const std::size_t w = 5;
  std::vector<double> X = side_by_side<double>({zero, zero, zero, known, known});
  const std::vector<Report> reports = solve::simultaneous_cg<double>(
      A, nullptr, side_by_side<double>({spoilt, outside, good, zero, image}), X, 5, {});
  EXPECT_EQ(reports[0].outcome, Outcome::not_finite);
  EXPECT_EQ(whole(column(X, w, 0)).norm(), 0.0);
  EXPECT_EQ(reports[1].outcome, Outcome::inconsistent);
  EXPECT_LE(dense_residual(neumann(n), outside, column(X, w, 1)), 1.0);
  EXPECT_EQ(reports[2].outcome, Outcome::converged) << reports[2].diagnosis;
  EXPECT_LE(dense_residual(neumann(n), good, column(X, w, 2)), 1e-8);
  EXPECT_EQ(reports[3].outcome, Outcome::converged);
  EXPECT_EQ(whole(column(X, w, 3)).norm(), 0.0);
  EXPECT_EQ(reports[4].outcome, Outcome::converged);
  EXPECT_EQ(reports[4].iterations, 0);
  for (const Report& report : reports) expect_same_on_all_ranks(report);
}

TEST(SimultaneousCg, NeverWorseThanTheStartOrZero) {
  const GlobalIndex n = 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  const std::vector<double> b = hashed_vector(layout, 21);  // outside the range
  std::vector<double> near = hashed_vector(layout, 20);
  std::vector<double> far = near;
  for (double& value : near) value *= 0.1;
  for (double& value : far) value = 30 * value + 1000;
  std::vector<double> X = side_by_side<double>({near, far});
  const auto reports =
      solve::simultaneous_cg<double>(A, nullptr, side_by_side<double>({b, b}), X, 2, {});
  for (const std::size_t c : {std::size_t{0}, std::size_t{1}}) {
    const double of_start = dense_residual(neumann(n), b, c == 0 ? near : far);
    const double reached = dense_residual(neumann(n), b, column(X, 2, c));
    EXPECT_FALSE(reports[c].converged());
    EXPECT_LE(reached, std::min(1.0, of_start) * (1 + 1e-12));
    EXPECT_NEAR(reports[c].true_relative_residual, reached, 1e-9);
  }
}

TEST(SimultaneousCg, BadOperatorsEndAllSystems) {
  const comm::Layout layout = uniform(24);
  const std::vector<double> B =
      side_by_side<double>({hashed_vector(layout, 1), hashed_vector(layout, 2)});
  const auto outcomes = [&](const solve::Operator<double>& A, const solve::Operator<double>* M) {
    std::vector<double> X(B.size(), 0.0);
    const std::vector<Report> reports = solve::simultaneous_cg<double>(A, M, B, X, 2, {});
    EXPECT_EQ(reports[0].outcome, reports[1].outcome);
    for (const double x : X) EXPECT_TRUE(std::isfinite(x));
    return reports[0].outcome;
  };
  const auto A = make_operator(layout, dominant);
  const auto negative =
      make_operator(layout, [](GlobalIndex i, GlobalIndex j) { return -dominant(i, j); });
  const auto spoilt = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return i == 3 && j == 3 ? nan : dominant(i, j); });
  const Pointwise<double> minus(layout, [](GlobalIndex, double r) { return -r; });
  const Pointwise<double> broken(layout, [](GlobalIndex, double) { return nan; });
  EXPECT_EQ(outcomes(negative, nullptr), Outcome::indefinite_matrix);
  EXPECT_EQ(outcomes(spoilt, nullptr), Outcome::not_finite);
  EXPECT_EQ(outcomes(A, &minus), Outcome::indefinite_preconditioner);
  EXPECT_EQ(outcomes(A, &broken), Outcome::not_finite);
}

// The messages and the reductions of one system, whatever their number; the bytes of all.
TEST(SimultaneousCg, SharesMessagesAndReductions) {
  const comm::Layout layout = uniform(200);
  const auto A = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return laplace(i, j) + (i == j ? 1.0 : 0.0); });
  const std::vector<int> one_node(static_cast<std::size_t>(test_comm()->size()), 0);
  const auto calls_of = [&](int width, int iterations) {
    std::vector<std::vector<double>> rhs;
    for (int c = 0; c < width; ++c) {
      rhs.push_back(hashed_vector(layout, static_cast<std::uint64_t>(c)));
    }
    const std::vector<double> B = side_by_side(rhs);
    std::vector<double> X(B.size(), 0.0);
    const Options options{.tolerance = 1e-12, .max_iterations = iterations};
    return counted(one_node,
                   [&] { solve::simultaneous_cg<double>(A, nullptr, B, X, width, options); });
  };
  const auto of_ten = [&](int width) {
    const MpiCalls more = calls_of(width, 12);
    const MpiCalls less = calls_of(width, 2);
    return std::vector<std::int64_t>{more.collectives - less.collectives,
                                     more.messages() - less.messages(),
                                     more.bytes() - less.bytes()};
  };
  const std::vector<std::int64_t> one = of_ten(1);
  const std::vector<std::int64_t> eight = of_ten(8);
  EXPECT_EQ(one[0], 20);
  EXPECT_EQ(eight[0], one[0]);
  EXPECT_EQ(eight[1], one[1]);
  EXPECT_EQ(eight[2], 8 * one[2]);
}

TEST(SimultaneousCg, ObserverSeesTheLargestResidualAndMayEndAll) {
  const comm::Layout layout = uniform(50);
  const auto A = make_operator(layout, dominant);
  const std::vector<double> B =
      side_by_side<double>({hashed_vector(layout, 1), hashed_vector(layout, 2)});
  std::vector<double> X(B.size(), 0.0);
  std::vector<double> seen;
  const std::vector<Report> reports =
      solve::simultaneous_cg<double>(A, nullptr, B, X, 2, {}, [&](int iteration, double relative) {
        seen.push_back(relative);
        EXPECT_EQ(static_cast<std::size_t>(iteration), seen.size());
      });
  ASSERT_EQ(static_cast<int>(seen.size()), std::max(reports[0].iterations, reports[1].iterations));
  for (std::size_t k = 1; k <= seen.size(); ++k) {
    double largest = 0;
    for (const Report& report : reports) {
      if (k < report.history.size()) largest = std::max(largest, report.history[k]);
    }
    EXPECT_EQ(seen[k - 1], largest);
  }
  std::fill(X.begin(), X.end(), 0.0);
  const bool is_root = test_comm()->rank() == 0;
  for (const Report& report : solve::simultaneous_cg<double>(
           A, nullptr, B, X, 2, {},
           [&](int iteration, double) { return !is_root || iteration < 4; })) {
    EXPECT_EQ(report.outcome, Outcome::interrupted);
    EXPECT_EQ(report.iterations, 4);
  }
}

TEST(SimultaneousCg, WrongArgumentsThrowAlikeOnEveryRank) {
  const comm::Layout layout = uniform(20);
  const auto A = make_operator(layout, dominant);
  std::vector<double> B(2 * hashed_vector(layout, 1).size(), 1.0);
  std::vector<double> X = B;
  const auto run = [&](int width) { solve::simultaneous_cg<double>(A, nullptr, B, X, width, {}); };
  EXPECT_THROW(run(0), Error);
  EXPECT_THROW(run(65), Error);
  if (test_comm()->rank() == 0) B.push_back(1);  // on one rank only
  EXPECT_THROW(run(2), Error);
}

}  // namespace solve_simultaneous_cg_test
}  // namespace nodewise::test
