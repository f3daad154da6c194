// GMRES with one basis and with two: the answer, restarts, breakdowns, singular systems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_gmres_test {

using solve::Options;
using solve::Outcome;
using solve::Report;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Report run_gmres(const solve::Operator<double>& A, const solve::Operator<double>* M,
                 const std::vector<double>& b, std::vector<double>& x, const Options& options = {},
                 const solve::GmresOptions& own = {}) {
  return solve::gmres<double>(A, M, b, x, options, {}, own);
}

Report run_fgmres(const solve::Operator<double>& A, const solve::Operator<double>* M,
                  const std::vector<double>& b, std::vector<double>& x,
                  const Options& options = {}) {
  return solve::fgmres<double>(A, M, b, x, options);
}

/// Convection and diffusion in one dimension: not symmetric.
double convection(GlobalIndex i, GlobalIndex j) {
  return laplace(i, j) + (j == i + 1 ? 0.7 : (j == i - 1 ? -0.7 : 0.0)) + (i == j ? 0.1 : 0.0);
}

TEST(Gmres, SolvesANonsymmetricSystem) {
  const comm::Layout layout = uniform(43);
  const auto A = make_operator(layout, convection);
  const std::vector<double> b = hashed_vector(layout, 1);
  for (const int restart : {5, 20, 100}) {
    std::vector<double> x = hashed_vector(layout, 2);
    const Report report = run_gmres(A, nullptr, b, x, {}, {.restart = restart});
    EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    EXPECT_EQ(report.method, "gmres");
    EXPECT_LE(dense_residual(convection, b, x), 1e-8);
    EXPECT_NEAR(report.true_relative_residual, dense_residual(convection, b, x), 1e-14);
    EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
    expect_same_on_all_ranks(report);
  }
}

// After k steps the residual is the least one in the Krylov space, found here by dense QR.
TEST(Gmres, MinimisesTheTrueResidualOfThePreconditionedSpace) {
  const GlobalIndex n = 14;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, convection);
  const auto weight = [](GlobalIndex i) { return 1.0 / (1.0 + 0.3 * static_cast<double>(i % 5)); };
  const Pointwise<double> M(layout, [&](GlobalIndex i, double r) { return weight(i) * r; });
  const std::vector<double> b = hashed_vector(layout, 3);
  const Eigen::MatrixXd D = dense(n, convection);
  const Eigen::VectorXd rhs = whole(b);
  Eigen::VectorXd w(n);
  for (GlobalIndex i = 0; i < n; ++i) w[i] = weight(i);
  const int steps = 6;
  Eigen::MatrixXd images(n, steps);
  Eigen::VectorXd v = rhs;
  std::vector<double> history = {1.0};
  for (int k = 0; k < steps; ++k) {
    images.col(k) = D * w.cwiseProduct(v).eval();
    v = images.col(k).normalized();
    const Eigen::MatrixXd used = images.leftCols(k + 1);
    history.push_back((rhs - used * used.colPivHouseholderQr().solve(rhs)).norm() / rhs.norm());
  }
  for (const bool flexible : {false, true}) {
    M.applications = 0;
    std::vector<double> x(b.size(), 0.0);
    const Options options{.tolerance = 1e-14, .max_iterations = steps};
    const Report report =
        flexible ? run_fgmres(A, &M, b, x, options) : run_gmres(A, &M, b, x, options);
    EXPECT_EQ(report.outcome, Outcome::max_iterations);
    ASSERT_EQ(report.history.size(), history.size());
    for (std::size_t k = 0; k < history.size(); ++k) {
      EXPECT_NEAR(report.history[k], history[k], 1e-12);
    }
    EXPECT_NEAR(report.true_relative_residual, history.back(), 1e-12);
    // Without the preconditioned basis x takes another application.
    EXPECT_EQ(M.applications, flexible ? steps : steps + 1);
  }
}

TEST(Gmres, StopsOnTheTrueResidualWhateverTheScaleOfThePreconditioner) {
  const comm::Layout layout = uniform(30);
  const auto A = make_operator(layout, convection);
  const std::vector<double> b = hashed_vector(layout, 4);
  for (const double factor : {1e-12, -1.0, 1e12}) {
    const Pointwise<double> M(
        layout, [&](GlobalIndex i, double r) { return factor * r * (1 + static_cast<double>(i)); });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run_gmres(A, &M, b, x);
    EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    EXPECT_LE(dense_residual(convection, b, x), 1e-8);
  }
}

// A preconditioner that is another map every time: only the flexible form copes, and the other one
// says no more than is true, and what may help.
TEST(Gmres, APreconditionerThatChangesNeedsTheFlexibleForm) {
  const comm::Layout layout = uniform(30);
  const auto A = make_operator(layout, convection);
  const std::vector<double> b = hashed_vector(layout, 5);
  class Changing final : public solve::Operator<double> {
   public:
    explicit Changing(comm::Layout l) : layout_(std::move(l)) {}
    const comm::Layout& layout() const override { return layout_; }
    void apply(std::span<const double> x, std::span<double> y) const override {
      ++calls_;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto row = static_cast<std::size_t>(layout_.to_global(static_cast<LocalIndex>(i)));
        y[i] = x[i] / (1.0 + 0.5 * static_cast<double>((row + calls_) % 3));
      }
    }

   private:
    comm::Layout layout_;
    mutable std::size_t calls_ = 0;
  };
  const Changing M(layout);
  std::vector<double> x(b.size(), 0.0);
  const Report flexible = run_fgmres(A, &M, b, x);
  EXPECT_EQ(flexible.outcome, Outcome::converged) << flexible.diagnosis;
  EXPECT_EQ(flexible.method, "fgmres");
  EXPECT_LE(flexible.iterations, 30);
  EXPECT_LE(dense_residual(convection, b, x), 1e-8);
  x.assign(b.size(), 0.0);
  const Report fixed = run_gmres(A, &M, b, x);
  EXPECT_NEAR(fixed.true_relative_residual, dense_residual(convection, b, x), 1e-12);
  EXPECT_EQ(fixed.converged(), fixed.true_relative_residual <= 1e-8);
  EXPECT_FALSE(fixed.converged());
  EXPECT_THAT(fixed.diagnosis, HasSubstr("fgmres"));
}

TEST(Gmres, IndefiniteSystemsAreNoTrouble) {
  const comm::Layout layout = uniform(20);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) - (i == j ? 1.05 : 0.0);
  };
  const auto A = make_operator(layout, entry);
  const std::vector<double> b = hashed_vector(layout, 6);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_gmres(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(dense_residual(entry, b, x), 1e-8);
}

// The exact solution is found when the basis spans an invariant space: three distinct eigenvalues.
TEST(Gmres, EndsEarlyInAnInvariantSpace) {
  const comm::Layout layout = uniform(40);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return i == j ? 1.0 + static_cast<double>(i % 3) : 0.0;
  };
  const auto A = make_operator(layout, entry);
  const std::vector<double> b = hashed_vector(layout, 7);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_gmres(A, nullptr, b, x, {.tolerance = 1e-13});
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_EQ(report.iterations, 3);
}

TEST(Gmres, SolvesASingularConsistentSystem) {
  const GlobalIndex n = 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  const std::vector<double> b = make_vector(layout, [](GlobalIndex i) {
    return static_cast<double>(i) - static_cast<double>(n - 1) / 2;
  });
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_gmres(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(dense_residual(neumann(n), b, x), 1e-8);
}

TEST(Gmres, SaysThatASingularSystemHasNoSolution) {
  const GlobalIndex n = 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  for (const double outside : {1.0, 1e-3}) {
    const std::vector<double> b = make_vector(layout, [&](GlobalIndex i) {
      return outside + static_cast<double>(i) - static_cast<double>(n - 1) / 2;
    });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run_gmres(A, nullptr, b, x);
    EXPECT_EQ(report.outcome, Outcome::inconsistent) << report.diagnosis;
    EXPECT_THAT(report.diagnosis, HasSubstr("no solution"));
    // x is the least-squares solution: what is left is the constant part of b.
    const double expected = outside * std::sqrt(double(n)) / whole(b).norm();
    EXPECT_NEAR(dense_residual(neumann(n), b, x), expected, 1e-3 * expected);
    expect_same_on_all_ranks(report);
  }
}

// A nilpotent matrix: the first step already cannot extend the basis, and there is no solution.
TEST(Gmres, BreaksDownOnAHopelessMatrix) {
  const comm::Layout layout = uniform(2);
  const auto A = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return i == 0 && j == 1 ? 1.0 : 0.0; });
  const std::vector<double> b =
      make_vector(layout, [](GlobalIndex i) { return i == 1 ? 1.0 : 0.0; });
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_gmres(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::breakdown) << report.diagnosis;
  EXPECT_EQ(report.true_relative_residual, 1.0);
  EXPECT_EQ(report.iterations, 2);
}

// Shifting by one in a circle: GMRES(m) with m < n makes no progress at all on it.
TEST(Gmres, SaysThatItStagnates) {
  const GlobalIndex n = 12;
  const comm::Layout layout = uniform(n);
  const Entry shift = [](GlobalIndex i, GlobalIndex j) { return (i + 1) % n == j ? 1.0 : 0.0; };
  const auto A = make_operator(layout, shift);
  const std::vector<double> b =
      make_vector(layout, [](GlobalIndex i) { return i == 0 ? 1.0 : 0.0; });
  std::vector<double> x(b.size(), 0.0);
  const Report stuck = run_gmres(A, nullptr, b, x, {.stagnation_window = 0}, {.restart = 5});
  EXPECT_EQ(stuck.outcome, Outcome::stagnated);
  EXPECT_THAT(stuck.diagnosis, HasSubstr("`restart`"));
  EXPECT_EQ(stuck.iterations, 5);
  x.assign(b.size(), 0.0);
  const Report full = run_gmres(A, nullptr, b, x, {}, {.restart = 12});
  EXPECT_EQ(full.outcome, Outcome::converged);
  EXPECT_EQ(full.iterations, 12);
}

TEST(Gmres, NanInTheIterationIsNotConvergence) {
  const comm::Layout layout = uniform(16);
  const auto A = make_operator(layout, convection);
  const std::vector<double> b = hashed_vector(layout, 8);
  for (const int spoilt_call : {1, 2, 5}) {
    int calls = 0;
    const Pointwise<double> M(layout, [&](GlobalIndex i, double r) {
      if (i == layout.begin()) ++calls;
      return i == 15 && calls >= spoilt_call ? nan : r;
    });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run_fgmres(A, &M, b, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite);
    EXPECT_EQ(report.iterations, spoilt_call - 1);
    EXPECT_TRUE(whole(x).allFinite());
    // What the steps before the NaN had gained is kept, since the basis for it is.
    EXPECT_NEAR(report.true_relative_residual, dense_residual(convection, b, x), 1e-14);
    EXPECT_NEAR(report.true_relative_residual, report.history.back(), 1e-13);
    expect_same_on_all_ranks(report);
  }
}

TEST(Gmres, NamesTheAttainableAccuracy) {
  const comm::Layout layout = uniform(30);
  const auto A = make_operator(layout, convection);
  const std::vector<double> b = hashed_vector(layout, 9);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_gmres(A, nullptr, b, x, {.tolerance = 1e-20});
  EXPECT_EQ(report.outcome, Outcome::stagnated) << report.diagnosis;
  EXPECT_LE(report.true_relative_residual, 1e-13);
}

TEST(Gmres, SinglePrecision) {
  const comm::Layout layout = uniform(40);
  const auto A = make_operator<float>(layout, convection);
  const auto b =
      make_vector<float>(layout, [](GlobalIndex i) { return 1.0 + 0.1 * double(i % 3); });
  std::vector<float> x(b.size(), 0.0F);
  const Report report = solve::gmres<float>(A, nullptr, b, x, {.tolerance = 2e-6});
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(report.iterations, 42);
}

TEST(Gmres, DegenerateShapes) {
  for (const GlobalIndex n : {0, 1, 2, 3}) {
    for (const comm::Layout& layout : {uniform(n), on_last_rank(n)}) {
      const auto A = make_operator(layout, convection);
      const std::vector<double> b =
          make_vector(layout, [](GlobalIndex i) { return 3.0 - double(i); });
      std::vector<double> x(b.size(), 0.0);
      const Report report = run_gmres(A, nullptr, b, x);
      EXPECT_EQ(report.outcome, Outcome::converged);
      EXPECT_EQ(report.iterations, n);
      const double residual = n == 0 ? 0.0 : dense_residual(convection, b, x);
      EXPECT_LE(residual, 1e-8);
      expect_same_on_all_ranks(report);
    }
  }
}

TEST(Gmres, ZeroRightHandSideAndNoIterations) {
  const comm::Layout layout = uniform(11);
  const auto A = make_operator(layout, convection);
  std::vector<double> b(hashed_vector(layout, 0).size(), 0.0);
  std::vector<double> x = hashed_vector(layout, 10);
  EXPECT_EQ(run_gmres(A, nullptr, b, x).outcome, Outcome::converged);
  EXPECT_EQ(whole(x).norm(), 0.0);
  b = hashed_vector(layout, 11);
  const Report report = run_gmres(A, nullptr, b, x, {.max_iterations = 0});
  EXPECT_EQ(report.outcome, Outcome::max_iterations);
  EXPECT_EQ(report.true_relative_residual, 1.0);
}

}  // namespace solve_gmres_test
}  // namespace nodewise::test
