// BiCGStab: the textbook's recurrence, and its breakdowns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_bicgstab_test {

using solve::Options;
using solve::Outcome;
using solve::Report;
using testing::HasSubstr;

Report run(const solve::Operator<double>& A, const solve::Operator<double>* M,
           const std::vector<double>& b, std::vector<double>& x, const Options& options = {}) {
  return solve::bicgstab<double>(A, M, b, x, options);
}

/// Convection and diffusion in one dimension: not symmetric.
double convection(GlobalIndex i, GlobalIndex j) {
  return laplace(i, j) + (j == i + 1 ? 0.7 : (j == i - 1 ? -0.7 : 0.0)) + (i == j ? 0.1 : 0.0);
}

TEST(BiCgStab, FollowsTheTextbook) {
  const GlobalIndex n = 20;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, convection);
  const auto weight = [](GlobalIndex i) { return 1.0 / (2.0 + 0.1 * static_cast<double>(i)); };
  const Pointwise<double> M(layout, [&](GlobalIndex i, double r) { return weight(i) * r; });
  const std::vector<double> b = hashed_vector(layout, 2);
  std::vector<double> x = hashed_vector(layout, 3);

  Eigen::VectorXd w(n);
  for (GlobalIndex i = 0; i < n; ++i) w[i] = weight(i);
  const Eigen::MatrixXd D = dense(n, convection) * w.asDiagonal();
  const Eigen::VectorXd rhs = whole(b);
  Eigen::VectorXd y = whole(x);
  Eigen::VectorXd r = rhs - dense(n, convection) * y;
  const Eigen::VectorXd shadow = r;
  Eigen::VectorXd p = r;
  std::vector<double> history = {r.norm() / rhs.norm()};
  for (int k = 0; k < 6; ++k) {
    const Eigen::VectorXd v = D * p;
    const double rho = shadow.dot(r);
    const double alpha = rho / shadow.dot(v);
    const Eigen::VectorXd s = r - alpha * v;
    const Eigen::VectorXd t = D * s;
    const double omega = t.dot(s) / t.squaredNorm();
    y += w.cwiseProduct(alpha * p + omega * s);
    r = s - omega * t;
    p = r + shadow.dot(r) / rho * (alpha / omega) * (p - omega * v);
    history.push_back(r.norm() / rhs.norm());
  }

  const Report report = run(A, &M, b, x, {.tolerance = 1e-14, .max_iterations = 6});
  EXPECT_EQ(report.outcome, Outcome::max_iterations);
  ASSERT_EQ(report.history.size(), history.size());
  for (std::size_t k = 0; k < history.size(); ++k) {
    EXPECT_NEAR(report.history[k], history[k], 1e-10);
  }
  EXPECT_LE((whole(x) - y).norm(), 1e-10);
  EXPECT_EQ(M.applications, 12);
}

TEST(BiCgStab, SolvesANonsymmetricSystem) {
  for (const comm::Layout& layout : {uniform(43), on_last_rank(43)}) {
    const auto A = make_operator(layout, convection);
    const std::vector<double> b = hashed_vector(layout, 1);
    std::vector<double> x = hashed_vector(layout, 2);
    const Report report = run(A, nullptr, b, x);
    EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    EXPECT_LE(dense_residual(convection, b, x), 1e-8);
    expect_same_on_all_ranks(report);
  }
}

// The first residual is orthogonal to its own image: the method breaks down in the first step, and
// starts afresh against another shadow.
TEST(BiCgStab, RecoversFromABreakdown) {
  const GlobalIndex n = 12;
  const comm::Layout layout = uniform(n);
  const Entry swap = [](GlobalIndex i, GlobalIndex j) {  // pairs of unknowns change places
    return (i ^ 1) == j ? 1.0 : 0.0;
  };
  const auto A = make_operator(layout, swap);
  const std::vector<double> b =
      make_vector(layout, [](GlobalIndex i) { return i == 4 ? 1.0 : 0.0; });
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(dense_residual(swap, b, x), 1e-8);
  EXPECT_LE(report.iterations, 4);
}

// x.Ax = 0 for every x of a skew-symmetric matrix: the second half of a step is always void.
TEST(BiCgStab, SaysThatItBreaksDown) {
  const comm::Layout layout = uniform(20);
  const Entry skew = [](GlobalIndex i, GlobalIndex j) {
    return std::abs(i - j) == 1 ? static_cast<double>(j - i) : 0.0;
  };
  const auto A = make_operator(layout, skew);
  const std::vector<double> b = hashed_vector(layout, 5);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x);
  EXPECT_FALSE(report.converged());
  EXPECT_EQ(report.outcome, Outcome::breakdown);
  EXPECT_THAT(report.diagnosis, HasSubstr("broke down"));
  EXPECT_THAT(report.diagnosis, HasSubstr("gmres"));
  EXPECT_NEAR(report.true_relative_residual, dense_residual(skew, b, x), 1e-12);
  EXPECT_LE(report.true_relative_residual, 2.0);
  expect_same_on_all_ranks(report);
}

// Symmetric positive definite problems need not be told from others.
TEST(BiCgStab, HalvesTheIterationsOfCg) {
  const comm::Layout layout = uniform(150);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) + (i == j ? 0.05 : 0.0);
  };
  const auto A = make_operator(layout, entry);
  const std::vector<double> b = hashed_vector(layout, 6);
  std::vector<double> x(b.size(), 0.0);
  const int of_cg = solve::cg<double>(A, nullptr, b, x, {}).iterations;
  x.assign(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged);
  EXPECT_LE(report.iterations, of_cg);
}

}  // namespace solve_bicgstab_test
}  // namespace nodewise::test
