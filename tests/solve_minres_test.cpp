// MINRES: what it minimises, indefinite and singular systems.
#include <algorithm>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"

#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_minres_test {

using solve::Options;
using solve::Outcome;
using solve::Report;
using solve::ResidualNorm;

Report run(const solve::Operator<double>& A, const solve::Operator<double>* M,
           const std::vector<double>& b, std::vector<double>& x, const Options& options = {}) {
  return solve::minres<double>(A, M, b, x, options);
}

/// Eigenvalues of both signs.
double indefinite(GlobalIndex i, GlobalIndex j) {
  return laplace(i, j) - (i == j ? 1.05 : 0.0);
}

// After k steps the natural norm of the residual is the least one in the Krylov space, and the
// other norms are those of the same x; found here by dense least squares.
TEST(MinRes, MinimisesTheNaturalNorm) {
  const GlobalIndex n = 17;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, indefinite);
  const auto weight = [](GlobalIndex i) { return 1.0 / (1.0 + 0.4 * static_cast<double>(i % 5)); };
  const Pointwise<double> M(layout, [&](GlobalIndex i, double r) { return weight(i) * r; });
  const std::vector<double> b = hashed_vector(layout, 3);
  const Eigen::MatrixXd D = dense(n, indefinite);
  const Eigen::VectorXd rhs = whole(b);
  Eigen::VectorXd w(n);
  for (GlobalIndex i = 0; i < n; ++i) w[i] = weight(i);
  const Eigen::VectorXd root = w.cwiseSqrt();
  const int steps = 7;
  Eigen::MatrixXd images(n, steps);
  std::vector<double> natural = {1.0}, plain = {1.0}, preconditioned = {1.0};
  Eigen::VectorXd v = rhs;
  for (int k = 0; k < steps; ++k) {
    images.col(k) = D * w.cwiseProduct(v).eval();
    v = images.col(k).normalized();
    const Eigen::MatrixXd scaled = root.asDiagonal() * images.leftCols(k + 1);
    const Eigen::VectorXd y = scaled.colPivHouseholderQr().solve(root.cwiseProduct(rhs));
    const Eigen::VectorXd r = rhs - images.leftCols(k + 1) * y;
    natural.push_back(root.cwiseProduct(r).norm() / root.cwiseProduct(rhs).norm());
    plain.push_back(r.norm() / rhs.norm());
    preconditioned.push_back(w.cwiseProduct(r).norm() / w.cwiseProduct(rhs).norm());
  }
  const auto expect_history = [&](ResidualNorm norm, const std::vector<double>& expected) {
    std::vector<double> x(b.size(), 0.0);
    const Report report =
        run(A, &M, b, x, {.tolerance = 1e-14, .norm = norm, .max_iterations = steps});
    EXPECT_EQ(report.iterations, steps);
    ASSERT_EQ(report.history.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(report.history[k], expected[k], 1e-12) << to_string(norm) << ' ' << k;
    }
    EXPECT_NEAR(report.true_relative_residual, plain.back(), 1e-12);
  };
  expect_history(ResidualNorm::natural, natural);
  expect_history(ResidualNorm::unpreconditioned, plain);
  expect_history(ResidualNorm::preconditioned, preconditioned);
}

TEST(MinRes, SolvesIndefiniteSystemsThatCgRefuses) {
  const comm::Layout layout = uniform(50);
  const auto A = make_operator(layout, indefinite);
  const std::vector<double> b = hashed_vector(layout, 4);
  std::vector<double> x(b.size(), 0.0);
  EXPECT_EQ(solve::cg<double>(A, nullptr, b, x, {}).outcome, Outcome::indefinite_matrix);
  x.assign(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(dense_residual(indefinite, b, x), 1e-8);
  // Never a rise without a preconditioner, where the norm it minimises is the one that is reported.
  for (std::size_t k = 1; k < report.history.size(); ++k) {
    EXPECT_LE(report.history[k], report.history[k - 1] * (1 + 1e-12));
  }
}

// A saddle point: a block of zeros on the diagonal.
TEST(MinRes, SolvesASaddlePoint) {
  const GlobalIndex n = 30, m = 10;
  const Entry saddle = [](GlobalIndex i, GlobalIndex j) {
    if (i < n && j < n) return i == j ? 1.0 + 0.1 * static_cast<double>(i) : 0.0;
    if (i >= n && j >= n) return 0.0;
    const GlobalIndex column = std::min(i, j), row = std::max(i, j) - n;
    return column / 3 == row ? 1.0 : (column % m == row ? 0.5 : 0.0);
  };
  const comm::Layout layout = uniform(n + m);
  const auto A = make_operator(layout, saddle);
  const Pointwise<double> M(layout, [](GlobalIndex i, double r) {
    return i < n ? r / (1.0 + 0.1 * static_cast<double>(i)) : r / 2;
  });
  const std::vector<double> b = hashed_vector(layout, 5);
  for (const solve::Operator<double>* m_ :
       {(const solve::Operator<double>*)nullptr, (const solve::Operator<double>*)&M}) {
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, m_, b, x);
    EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    EXPECT_LE(dense_residual(saddle, b, x), 1e-8);
    EXPECT_LE(report.iterations, n + m + 5);
  }
}

// Three distinct eigenvalues: the space is exhausted after three steps, with the solution in it.
TEST(MinRes, EndsWhereTheSpaceIsExhausted) {
  const comm::Layout layout = uniform(40);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return i == j ? -1.0 + static_cast<double>(i % 3) * 1.5 : 0.0;
  };
  const auto A = make_operator(layout, entry);
  const std::vector<double> b = hashed_vector(layout, 7);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x, {.tolerance = 1e-13});
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_EQ(report.iterations, 3);
}

// x is the least-squares solution: what is left is the part of b outside the range.
TEST(MinRes, LeavesTheLeastResidualOfASystemWithoutSolution) {
  const GlobalIndex n = 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  for (const double outside : {1.0, 1e-3}) {
    const std::vector<double> b = make_vector(layout, [&](GlobalIndex i) {
      return outside + static_cast<double>(i) - static_cast<double>(n - 1) / 2;
    });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, nullptr, b, x);
    EXPECT_EQ(report.outcome, Outcome::inconsistent) << report.diagnosis;
    const double expected = outside * std::sqrt(double(n)) / whole(b).norm();
    EXPECT_NEAR(dense_residual(neumann(n), b, x), expected, 1e-3 * expected);
  }
}

/// The least residual but for round-off, long before the limit, and never a number below it.
void expect_least_squares(const solve::Operator<double>& A, const solve::Operator<double>* M,
                          const Entry& entry, const std::vector<double>& b, double least) {
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, M, b, x);
  EXPECT_EQ(report.outcome, Outcome::inconsistent) << report.diagnosis;
  EXPECT_LE(report.iterations, 400);
  EXPECT_LE(dense_residual(entry, b, x), 1.01 * least);
  EXPECT_GE(*std::min_element(report.history.begin(), report.history.end()), 0.99 * least);
  expect_same_on_all_ranks(report);
}

TEST(MinRes, StopsAtTheLeastResidualOfAPeriodicGrid) {
  const GlobalIndex n = 24;
  const comm::Layout layout = uniform(n * n);
  const Pointwise<double> M(
      layout, [](GlobalIndex i, double r) { return r * (1 + 0.1 * static_cast<double>(i % 3)); });
  for (const double scale : {1.0, 0.1, 192.0}) {
    const Entry entry = periodic_laplace(n, scale);
    const auto A = make_operator(layout, entry);
    for (const double mean : {0.01, 1.0}) {
      std::vector<double> b = hashed_vector(layout, 3);
      for (double& value : b) value += mean;
      const double least = std::abs(whole(b).mean()) * static_cast<double>(n) / whole(b).norm();
      expect_least_squares(A, nullptr, entry, b, least);
      expect_least_squares(A, &M, entry, b, least);
    }
    const std::vector<double> ones = make_vector(layout, [](GlobalIndex) { return 1.0; });
    expect_least_squares(A, nullptr, entry, ones, 1.0);
    expect_least_squares(A, &M, entry, ones, 1.0);
  }
}

TEST(MinRes, StopsAtTheLeastResidualWithMultigrid) {
  const GlobalIndex n = 40;
  const comm::Layout layout = uniform(n * n);
  const Entry entry = periodic_laplace(n, 1);
  const auto A = make_operator(layout, entry);
  const amg::Hierarchy<double> M(std::make_shared<const matrix::DistMatrix<double>>(A.matrix()),
                                 amg::Options{});
  const std::vector<double> b = hashed_vector(layout, 3);
  const double least = std::abs(whole(b).mean()) * static_cast<double>(n) / whole(b).norm();
  for (const std::vector<double>& rhs : {b, make_vector(layout, [](GlobalIndex) { return 1.0; })}) {
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, &M, rhs, x);
    EXPECT_EQ(report.outcome, Outcome::inconsistent) << report.diagnosis;
    // Of the natural norm, which M distorts a little, it is the least.
    EXPECT_LE(report.true_relative_residual, 1.1 * (rhs == b ? least : 1.0));
    EXPECT_NEAR(report.true_relative_residual, dense_residual(entry, rhs, x), 1e-6);
    expect_same_on_all_ranks(report);
  }
}

// An eigenvalue so small that the residual looks like a null vector for a while is none.
TEST(MinRes, GoesOnWhereTheMatrixIsNearlySingular) {
  const GlobalIndex n = 60;
  const comm::Layout layout = uniform(n);
  for (const double least : {1e-6, 1e-8}) {
    const Entry entry = [least](GlobalIndex i, GlobalIndex j) {
      return i != j ? 0.0 : (i == 0 ? least : 1 + static_cast<double>(i % 5));
    };
    const auto A = make_operator(layout, entry);
    const std::vector<double> b = hashed_vector(layout, 9);
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, nullptr, b, x);
    EXPECT_EQ(report.outcome, Outcome::converged) << least << ' ' << report.diagnosis;
    EXPECT_LE(dense_residual(entry, b, x), 1e-8);
  }
}

// A huge entry that the right-hand side has nothing to do with says nothing about the rest.
TEST(MinRes, IgnoresAHugeEntryThatItNeverMeets) {
  const GlobalIndex n = 30;
  const comm::Layout layout = uniform(n);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return i == 0 || j == 0 ? (i == j ? 1e12 : 0.0) : laplace(i, j);
  };
  const auto A = make_operator(layout, entry);
  const std::vector<double> b = make_vector(
      layout, [](GlobalIndex i) { return i == 0 ? 0.0 : 1 + static_cast<double>(i % 4); });
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
}

}  // namespace solve_minres_test
}  // namespace nodewise::test
