// IDR(s): the published recurrence, its finite end, and breakdowns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_idr_test {

using solve::IdrOptions;
using solve::Options;
using solve::Outcome;
using solve::Report;
using testing::HasSubstr;

Report run(const solve::Operator<double>& A, const solve::Operator<double>* M,
           const std::vector<double>& b, std::vector<double>& x, const Options& options = {},
           int s = 4) {
  return solve::idr<double>(A, M, b, x, options, {}, IdrOptions{s});
}

/// Convection and diffusion in one dimension: not symmetric.
double convection(GlobalIndex i, GlobalIndex j) {
  return laplace(i, j) + (j == i + 1 ? 0.7 : (j == i - 1 ? -0.7 : 0.0)) + (i == j ? 0.1 : 0.0);
}

// The recurrence as it is published, with dense matrices and sums one after another.
TEST(Idr, FollowsThePublishedRecurrence) {
  const GlobalIndex n = 24;
  const Eigen::Index s = 3;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, convection);
  const auto weight = [](GlobalIndex i) { return 1.0 / (2.0 + 0.1 * static_cast<double>(i)); };
  const Pointwise<double> M(layout, [&](GlobalIndex i, double r) { return weight(i) * r; });
  const std::vector<double> b = hashed_vector(layout, 2);
  std::vector<double> x = hashed_vector(layout, 3);

  const Eigen::MatrixXd D = dense(n, convection);
  Eigen::VectorXd w(n);
  for (GlobalIndex i = 0; i < n; ++i) w[i] = weight(i);
  const Eigen::MatrixXd P = Eigen::MatrixXd::NullaryExpr(n, s, [](auto i, auto k) {
    return 2 * hash_uniform(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k)) - 1;
  });
  const Eigen::VectorXd rhs = whole(b);
  Eigen::VectorXd y = whole(x);
  Eigen::VectorXd r = rhs - D * y;
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(n, s), U = G, S = Eigen::MatrixXd::Identity(s, s);
  double omega = 1;
  std::vector<double> history = {r.norm() / rhs.norm()};
  while (history.size() < 11) {
    Eigen::VectorXd f = P.transpose() * r;
    for (Eigen::Index k = 0; k < s; ++k) {
      const Eigen::Index left = s - k;
      const Eigen::VectorXd c =
          Eigen::MatrixXd(S.bottomRightCorner(left, left)).partialPivLu().solve(f.tail(left));
      const Eigen::VectorXd v = r - G.rightCols(left) * c;
      Eigen::VectorXd u = U.rightCols(left) * c + omega * w.cwiseProduct(v);
      Eigen::VectorXd g = D * u;
      for (Eigen::Index i = 0; i < k; ++i) {
        const double alpha = P.col(i).dot(g) / S(i, i);
        g -= alpha * G.col(i);
        u -= alpha * U.col(i);
      }
      G.col(k) = g;
      U.col(k) = u;
      for (Eigen::Index i = k; i < s; ++i) S(i, k) = P.col(i).dot(g);
      const double beta = f[k] / S(k, k);
      r -= beta * g;
      y += beta * u;
      for (Eigen::Index i = k; i < s; ++i) f[i] -= beta * S(i, k);
      history.push_back(r.norm() / rhs.norm());
    }
    const Eigen::VectorXd z = w.cwiseProduct(r);
    const Eigen::VectorXd t = D * z;
    const double cosine = std::abs(t.dot(r)) / (t.norm() * r.norm());
    omega = t.dot(r) / t.squaredNorm() * std::max(1.0, 0.7 / cosine);
    y += omega * z;
    r -= omega * t;
    history.push_back(r.norm() / rhs.norm());
  }
  const int iterations = static_cast<int>(history.size()) - 1;
  const Report report =
      run(A, &M, b, x, {.tolerance = 1e-14, .max_iterations = iterations}, static_cast<int>(s));
  EXPECT_EQ(report.outcome, Outcome::max_iterations);
  ASSERT_EQ(report.history.size(), history.size());
  for (std::size_t k = 0; k < history.size(); ++k) {
    EXPECT_NEAR(report.history[k], history[k], 1e-8 * (1 + history[k])) << k;
  }
  EXPECT_LE((whole(x) - y).norm(), 1e-7 * y.norm());
  EXPECT_EQ(M.applications, iterations);
}

TEST(Idr, SolvesANonsymmetricSystemWithAnyDimension) {
  for (const comm::Layout& layout : {uniform(43), on_last_rank(43)}) {
    const auto A = make_operator(layout, convection);
    const std::vector<double> b = hashed_vector(layout, 1);
    for (const int s : {1, 2, 4, 8, 64}) {
      std::vector<double> x = hashed_vector(layout, 2);
      const Report report = run(A, nullptr, b, x, {}, s);
      EXPECT_EQ(report.outcome, Outcome::converged) << s << ": " << report.diagnosis;
      EXPECT_LE(dense_residual(convection, b, x), 1e-8);
      // n + n / s products, and a few for round-off.
      EXPECT_LE(report.iterations, 43 + 43 / s + 10);
      expect_same_on_all_ranks(report);
    }
  }
}

TEST(Idr, TakesAsManyIterationsOnAnyLayout) {
  const GlobalIndex n = 60;
  const auto iterations = [&](const comm::Layout& layout) {
    const auto A = make_operator(layout, convection);
    const std::vector<double> b = hashed_vector(layout, 1);
    std::vector<double> x(b.size(), 0.0);
    return run(A, nullptr, b, x, {.tolerance = 1e-6}).iterations;
  };
  EXPECT_NEAR(iterations(uniform(n)), iterations(on_last_rank(n)), 1);
}

// r.Ar = 0 for every r of a skew-symmetric matrix: no step leads into the next space.
TEST(Idr, SaysThatItBreaksDown) {
  const comm::Layout layout = uniform(200);
  const Entry skew = [](GlobalIndex i, GlobalIndex j) {
    return std::abs(i - j) == 1 ? static_cast<double>(j - i) : 0.0;
  };
  const auto A = make_operator(layout, skew);
  const std::vector<double> b = hashed_vector(layout, 5);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x, {}, 1);
  EXPECT_FALSE(report.converged());
  EXPECT_EQ(report.outcome, Outcome::breakdown) << report.diagnosis;
  EXPECT_THAT(report.diagnosis, HasSubstr("broke down"));
  EXPECT_THAT(report.diagnosis, HasSubstr("gmres"));
  EXPECT_NEAR(report.true_relative_residual, dense_residual(skew, b, x), 1e-12);
  expect_same_on_all_ranks(report);
}

TEST(Idr, OfNoRowsAndOneRow) {
  for (const GlobalIndex n : {GlobalIndex{0}, GlobalIndex{1}}) {
    const comm::Layout layout = uniform(n);
    const auto A = make_operator(layout, laplace);
    const std::vector<double> b = hashed_vector(layout, 5);
    std::vector<double> x(b.size(), 0.0);
    EXPECT_EQ(run(A, nullptr, b, x).outcome, Outcome::converged);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(2 * x[i], b[i], 1e-8);
  }
}

TEST(Idr, StopsAtEntriesThatAreNotFinite) {
  const comm::Layout layout = uniform(20);
  const auto A = make_operator(layout, laplace);
  const Pointwise<double> M(layout,
                            [](GlobalIndex i, double r) { return i == 11 ? HUGE_VAL * r : r; });
  const std::vector<double> b = hashed_vector(layout, 5);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, &M, b, x);
  EXPECT_EQ(report.outcome, Outcome::not_finite);
  EXPECT_TRUE(whole(x).allFinite());
}

}  // namespace solve_idr_test
}  // namespace nodewise::test
