// Conjugate gradients: the answer, the stopping test, and every way to fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_cg_test {

using solve::Options;
using solve::Outcome;
using solve::Report;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Report run_cg(const solve::Operator<double>& A, const solve::Operator<double>* M,
              const std::vector<double>& b, std::vector<double>& x, const Options& options = {}) {
  return solve::cg<double>(A, M, b, x, options);
}

TEST(Cg, SolvesTheLaplacianToTheTolerance) {
  const comm::Layout layout = uniform(37);
  const auto A = make_operator(layout, laplace);
  const std::vector<double> b = hashed_vector(layout, 1);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged);
  EXPECT_EQ(report.diagnosis, "");
  EXPECT_EQ(report.method, "cg");
  EXPECT_LE(report.iterations, 40);
  EXPECT_LE(dense_residual(laplace, b, x), 1e-8);
  EXPECT_NEAR(report.true_relative_residual, dense_residual(laplace, b, x), 1e-14);
  EXPECT_NEAR(report.rhs_norm, whole(b).norm(), 1e-14);
  EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
  EXPECT_EQ(report.history.front(), 1.0);
  EXPECT_EQ(report.history.back(), report.true_relative_residual);
  expect_same_on_all_ranks(report);
}

// A few exact steps of the textbook's recurrence, with a preconditioner, in dense arithmetic.
TEST(Cg, FollowsTheTextbook) {
  const comm::Layout layout = uniform(12);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) + (i == j ? static_cast<double>(i) : 0.0);
  };
  const auto A = make_operator(layout, entry);
  const auto inverse_diagonal = [](GlobalIndex i, double r) {
    return r / (2.0 + static_cast<double>(i));
  };
  const Pointwise<double> M(layout, inverse_diagonal);
  const std::vector<double> b = hashed_vector(layout, 2);
  std::vector<double> x = hashed_vector(layout, 3);

  const Eigen::MatrixXd D = dense(12, entry);
  const Eigen::VectorXd rhs = whole(b);
  Eigen::VectorXd y = whole(x);
  Eigen::VectorXd r = rhs - D * y;
  const Eigen::VectorXd d = D.diagonal().cwiseInverse();
  Eigen::VectorXd p = d.cwiseProduct(r);
  std::vector<double> history = {r.norm() / rhs.norm()};
  for (int k = 0; k < 5; ++k) {
    const double rz = r.dot(d.cwiseProduct(r));
    const double alpha = rz / p.dot(D * p);
    y += alpha * p;
    r -= alpha * (D * p).eval();
    const Eigen::VectorXd z = d.cwiseProduct(r);
    p = z + r.dot(z) / rz * p;
    history.push_back(r.norm() / rhs.norm());
  }

  const Report report = run_cg(A, &M, b, x, {.tolerance = 1e-14, .max_iterations = 5});
  EXPECT_EQ(report.outcome, Outcome::max_iterations);
  EXPECT_EQ(report.iterations, 5);
  ASSERT_EQ(report.history.size(), 6U);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(report.history[k], history[k], 1e-13);
  EXPECT_LE((whole(x) - y).norm(), 1e-12);
  EXPECT_EQ(M.applications, 5);
}

// Guards against a stopping test that compares r.Mr with |b|: with M = 1e-6 D, badly scaled rows
// and a tolerance of 1e-8 such a test stops far too early.
TEST(Cg, StopsOnTheTrueResidualWhateverTheScaleOfThePreconditioner) {
  const comm::Layout layout = uniform(50);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) * std::pow(10.0, 0.06 * static_cast<double>(i + j));
  };
  const auto A = make_operator(layout, entry);
  const std::vector<double> b = make_vector(layout, [](GlobalIndex) { return 1.0; });
  for (const double factor : {1e-12, 1.0, 1e12}) {
    const auto M = Pointwise<double>(
        layout, [&](GlobalIndex i, double r) { return factor * r / entry(i, i); });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run_cg(A, &M, b, x);
    EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    EXPECT_LE(dense_residual(entry, b, x), 1e-8);
    EXPECT_NEAR(report.true_relative_residual, dense_residual(entry, b, x), 1e-10);
  }
}

// The recurrence may drift away from the truth; then the solve must go on, or say that it cannot.
TEST(Cg, NeverClaimsAToleranceThatRoundOffForbids) {
  const comm::Layout layout = uniform(60);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return i == j ? std::pow(10.0, 10.0 * static_cast<double>(i) / 59) : 0.0;
  };
  const auto A = make_operator(layout, entry);
  // Large solution, small right-hand side: |A| |x| is 1e10 |b| or so.
  const std::vector<double> b = make_vector(layout, [](GlobalIndex) { return 1.0; });
  std::vector<double> x = make_vector(layout, [](GlobalIndex) { return 1e4; });
  const Report report = run_cg(A, nullptr, b, x, {.tolerance = 1e-18, .max_iterations = 100000});
  EXPECT_EQ(report.outcome, Outcome::stagnated);
  EXPECT_GT(report.true_relative_residual, 1e-18);
  EXPECT_NEAR(report.true_relative_residual, dense_residual(entry, b, x), 1e-12);
  EXPECT_NE(report.diagnosis, "");
}

TEST(Cg, NamesTheAttainableAccuracy) {
  const comm::Layout layout = uniform(30);
  const auto A = make_operator(layout, laplace);
  const std::vector<double> b = hashed_vector(layout, 4);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, nullptr, b, x, {.tolerance = 1e-20});
  EXPECT_EQ(report.outcome, Outcome::stagnated);
  EXPECT_THAT(report.diagnosis, HasSubstr("attainable accuracy of double precision"));
  EXPECT_LE(report.true_relative_residual, 1e-13);
  EXPECT_LE(report.iterations, 200);
}

// A tolerance just above what can be reached is reached, by starting afresh from the true residual.
TEST(Cg, ReachesWhatIsAttainableInSinglePrecision) {
  const comm::Layout layout = uniform(40);
  const auto A = make_operator<float>(layout, laplace);
  const auto b =
      make_vector<float>(layout, [](GlobalIndex i) { return 1.0 + 0.1 * double(i % 3); });
  std::vector<float> x(b.size(), 0.0F);
  const Report report = solve::cg<float>(A, nullptr, b, x, {.tolerance = 2e-5});
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(dense_residual(laplace, b, x), 2.5e-5);
}

TEST(Cg, StopsAtOnceOnNanOrInfinityInTheData) {
  const comm::Layout layout = uniform(9);
  const auto A = make_operator(layout, laplace);
  for (const double bad : {nan, inf, -inf}) {
    const std::vector<double> good = hashed_vector(layout, 5);
    const std::vector<double> spoilt =
        make_vector(layout, [bad](GlobalIndex i) { return i == 7 ? bad : 1.0; });
    std::vector<double> x(good.size(), 0.0);
    Report report = run_cg(A, nullptr, spoilt, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_THAT(report.diagnosis, HasSubstr("1 of the right-hand side's entries"));
    EXPECT_EQ(whole(x).norm(), 0.0);
    EXPECT_TRUE(std::isnan(report.true_relative_residual));
    x = spoilt;
    report = run_cg(A, nullptr, good, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite);
    EXPECT_THAT(report.diagnosis, HasSubstr("1 of the initial guess's entries"));
    expect_same_on_all_ranks(report);
  }
}

// Guards against NaN counted as converged: every comparison with NaN is false.
TEST(Cg, NanInTheIterationIsNotConvergence) {
  const comm::Layout layout = uniform(16);
  const auto A = make_operator(layout, laplace);
  const std::vector<double> b = hashed_vector(layout, 6);
  for (const int spoilt_call : {1, 2, 5}) {
    int calls = 0;
    const Pointwise<double> M(layout, [&](GlobalIndex i, double r) {
      if (i == layout.begin()) ++calls;
      return i == 15 && calls >= spoilt_call ? nan : r;
    });
    // Ranks without row 15 or without rows count as well; only the owner's NaN matters.
    std::vector<double> x(b.size(), 0.0);
    const Report report = run_cg(A, &M, b, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite);
    EXPECT_EQ(report.iterations, spoilt_call - 1);
    EXPECT_THAT(report.diagnosis, HasSubstr("preconditioner"));
    EXPECT_TRUE(whole(x).allFinite());
    EXPECT_NEAR(report.true_relative_residual, dense_residual(laplace, b, x), 1e-14);
    expect_same_on_all_ranks(report);
  }
}

TEST(Cg, NanInTheMatrixIsNotConvergence) {
  const comm::Layout layout = uniform(10);
  const auto A = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return i == 3 && j == 3 ? nan : laplace(i, j); });
  const std::vector<double> b = hashed_vector(layout, 7);
  for (const double start : {0.0, 1.0}) {
    std::vector<double> x(b.size(), start);
    const Report report = run_cg(A, nullptr, b, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ((whole(x).array() - start).matrix().norm(), 0.0);
    EXPECT_TRUE(std::isnan(report.true_relative_residual));
  }
}

TEST(Cg, SaysThatTheMatrixIsIndefinite) {
  const comm::Layout layout = uniform(20);
  const auto A = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return laplace(i, j) - (i == j ? 1.0 : 0.0); });
  const std::vector<double> b = hashed_vector(layout, 8);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::indefinite_matrix);
  EXPECT_THAT(report.diagnosis, HasSubstr("p.Ap = -"));
  EXPECT_THAT(report.diagnosis, HasSubstr("gmres"));
  EXPECT_TRUE(whole(x).allFinite());
  expect_same_on_all_ranks(report);
}

TEST(Cg, SaysThatThePreconditionerIsIndefinite) {
  const comm::Layout layout = uniform(20);
  const auto A = make_operator(layout, laplace);
  const Pointwise<double> M(layout, [](GlobalIndex, double r) { return -r; });
  const std::vector<double> b = hashed_vector(layout, 9);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, &M, b, x);
  EXPECT_EQ(report.outcome, Outcome::indefinite_preconditioner);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_THAT(report.diagnosis, HasSubstr("r.Mr = -"));
}

TEST(Cg, SolvesASingularConsistentSystem) {
  const GlobalIndex n = 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  const std::vector<double> b = make_vector(layout, [](GlobalIndex i) {  // sums to zero
    return static_cast<double>(i) - static_cast<double>(n - 1) / 2;
  });
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(dense_residual(neumann(n), b, x), 1e-8);
}

// Rows of sizes from 1e-10 to 1e10: next to the norm of the matrix there are many null vectors.
TEST(Cg, DoesNotCallABadlyScaledSystemSingularThatItHasNearlySolved) {
  const GlobalIndex n = 200;
  const comm::Layout layout = uniform(n);
  const auto size = [](GlobalIndex i) {
    return std::pow(10, 10 * hash_uniform(static_cast<std::uint64_t>(i), 1) - 5);
  };
  const auto scaled = [&](GlobalIndex i, GlobalIndex j) {
    return i == j ? 4 * size(i) * size(i) : laplace(i, j) * size(i) * size(j);
  };
  const auto A = make_operator(layout, scaled);
  const Pointwise<double> jacobi(layout, [&](GlobalIndex i, double r) { return r / scaled(i, i); });
  const std::vector<double> b = hashed_vector(layout, 2);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, &jacobi, b, x, {.tolerance = 1e-14});
  EXPECT_EQ(report.outcome, Outcome::stagnated) << report.diagnosis;
  EXPECT_LE(report.true_relative_residual, 1e-4);
  expect_same_on_all_ranks(report);
}

TEST(Cg, SaysThatASingularSystemHasNoSolution) {
  const GlobalIndex n = 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  const Pointwise<double> jacobi(
      layout, [](GlobalIndex i, double r) { return r / (i == 0 || i == n - 1 ? 1.0 : 2.0); });
  for (const double outside : {1.0, 0.1, 1e-4}) {
    const std::vector<double> b = make_vector(layout, [&](GlobalIndex i) {
      return outside + static_cast<double>(i) - static_cast<double>(n - 1) / 2;
    });
    for (const solve::Operator<double>* M :
         {(const solve::Operator<double>*)nullptr, (const solve::Operator<double>*)&jacobi}) {
      std::vector<double> x(b.size(), 0.0);
      const Report report = run_cg(A, M, b, x);
      EXPECT_EQ(report.outcome, Outcome::inconsistent) << report.diagnosis;
      EXPECT_THAT(report.diagnosis, HasSubstr("no solution"));
      EXPECT_LE(report.true_relative_residual, 2.0)
          << outside << testing::PrintToString(report.history);
      EXPECT_NEAR(report.true_relative_residual, dense_residual(neumann(n), b, x), 1e-9);
      expect_same_on_all_ranks(report);
    }
  }
}

// An iteration that blows up is stopped, and x is the best iterate rather than the last.
TEST(Cg, StopsWhenItDivergesAndKeepsTheBestIterate) {
  const comm::Layout layout = uniform(24);
  const Entry skewed = [](GlobalIndex i, GlobalIndex j) {  // not symmetric: a mistake of the caller
    return i == j ? 1.0 : (j == i + 1 ? 1e10 : (j == i - 1 ? -1e10 : 0.0));
  };
  const auto A = make_operator(layout, skewed);
  const std::vector<double> b = hashed_vector(layout, 10);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, nullptr, b, x, {.stagnation_window = 0});
  EXPECT_EQ(report.outcome, Outcome::diverged) << report.diagnosis;
  EXPECT_GT(report.history.back(), 1e8);
  EXPECT_LE(report.true_relative_residual, 2.0);
  EXPECT_NEAR(report.true_relative_residual, dense_residual(skewed, b, x), 1e-9);
}

/// A unit load at one end of a chain: the residual of CG does not fall before n iterations.
struct LoadedChain {
  solve::MatrixOperator<double> A;
  std::vector<double> b;
};

LoadedChain loaded_chain(GlobalIndex n) {
  const comm::Layout layout = uniform(n);
  const Entry chain = [n](GlobalIndex i, GlobalIndex j) {
    return i == n - 1 && j == n - 1 ? 1.0 : laplace(i, j);
  };
  return {make_operator(layout, chain),
          make_vector(layout, [n](GlobalIndex i) { return i == n - 1 ? 1.0 : 0.0; })};
}

TEST(Cg, StagnatesAfterTheWindowAndNotWithoutOne) {
  const auto [A, b] = loaded_chain(60);
  std::vector<double> x(b.size(), 0.0);
  const Report stuck = run_cg(A, nullptr, b, x, {.stagnation_window = 7});
  EXPECT_EQ(stuck.outcome, Outcome::stagnated);
  EXPECT_EQ(stuck.iterations, 7);
  EXPECT_GE(stuck.history.back(), 0.999);
  x.assign(b.size(), 0.0);
  const Report free = run_cg(A, nullptr, b, x, {.stagnation_window = 0});
  EXPECT_EQ(free.outcome, Outcome::converged) << free.diagnosis;
  EXPECT_EQ(free.iterations, 60);
}

// Who allows many iterations expects a residual that may rest for long.
TEST(Cg, WaitsForHalfOfTheIterationsAllowed) {
  const LoadedChain system = loaded_chain(600);
  const auto solve = [&](int max_iterations) {
    std::vector<double> x(system.b.size(), 0.0);
    return run_cg(system.A, nullptr, system.b, x, {.max_iterations = max_iterations});
  };
  const Report stuck = solve(900);
  EXPECT_EQ(stuck.outcome, Outcome::stagnated);
  EXPECT_EQ(stuck.iterations, 450);
  EXPECT_THAT(stuck.diagnosis, testing::HasSubstr("`stagnation_window`"));
  EXPECT_EQ(solve(400).iterations, 300);
  const Report patient = solve(1300);
  EXPECT_EQ(patient.outcome, Outcome::converged) << patient.diagnosis;
  EXPECT_EQ(patient.iterations, 600);
}

TEST(Cg, SaysHowManyMoreIterationsAreNeeded) {
  const comm::Layout layout = uniform(80);
  const auto A = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return laplace(i, j) + (i == j ? 0.05 : 0.0); });
  const std::vector<double> b = hashed_vector(layout, 11);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, nullptr, b, x, {.max_iterations = 25});
  EXPECT_EQ(report.outcome, Outcome::max_iterations);
  EXPECT_EQ(report.iterations, 25);
  EXPECT_THAT(report.diagnosis, HasSubstr("more are needed"));
  EXPECT_NEAR(report.true_relative_residual, report.history.back(), 1e-12);
}

TEST(Cg, DegenerateShapes) {
  for (const GlobalIndex n : {0, 1, 2, 3}) {
    for (const comm::Layout& layout : {uniform(n), on_last_rank(n)}) {
      const auto A = make_operator(layout, laplace);
      const std::vector<double> b =
          make_vector(layout, [](GlobalIndex i) { return 3.0 - double(i); });
      std::vector<double> x(b.size(), 0.0);
      const Report report = run_cg(A, nullptr, b, x);
      EXPECT_EQ(report.outcome, Outcome::converged);
      EXPECT_LE(report.iterations, n);
      EXPECT_EQ(report.iterations == 0, n == 0);
      if (n > 0) {
        EXPECT_LE(dense_residual(laplace, b, x), 1e-8);
      }
      expect_same_on_all_ranks(report);
    }
  }
}

TEST(Cg, ZeroRightHandSideHasTheZeroSolution) {
  const comm::Layout layout = uniform(11);
  const auto A = make_operator(layout, laplace);
  const std::vector<double> b(hashed_vector(layout, 0).size(), 0.0);
  std::vector<double> x = hashed_vector(layout, 12);
  const Report report = run_cg(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(report.rhs_norm, 0.0);
  EXPECT_EQ(report.true_relative_residual, 0.0);
  EXPECT_EQ(whole(x).norm(), 0.0);
}

TEST(Cg, AnExactStartIsAccepted) {
  const comm::Layout layout = uniform(11);
  const auto A = make_operator(layout, laplace);
  std::vector<double> x = make_vector(layout, [](GlobalIndex i) { return double(i); });
  std::vector<double> b(x.size());
  A.apply(x, b);
  const std::vector<double> start = x;
  for (const double tolerance : {1e-8, 0.0}) {
    const Report report = run_cg(A, nullptr, b, x, {.tolerance = tolerance, .max_iterations = 0});
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(x, start);
  }
}

TEST(Cg, NoIterationsAllowed) {
  const comm::Layout layout = uniform(11);
  const auto A = make_operator(layout, laplace);
  const std::vector<double> b = hashed_vector(layout, 13);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, nullptr, b, x, {.max_iterations = 0});
  EXPECT_EQ(report.outcome, Outcome::max_iterations);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(report.history, std::vector<double>{1.0});
  EXPECT_EQ(report.true_relative_residual, 1.0);
}

// |b|^2 underflows (overflows): it must not be taken for zero (for infinity).
TEST(Cg, TinyAndHugeRightHandSides) {
  const comm::Layout layout = uniform(15);
  const auto A = make_operator(layout, laplace);
  for (const double size : {1e-300, 1e-200, 1e200, 1e300}) {
    const std::vector<double> b =
        make_vector(layout, [size](GlobalIndex i) { return size * (1 + double(i % 4)); });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run_cg(A, nullptr, b, x);
    EXPECT_EQ(report.outcome, Outcome::converged) << size << ": " << report.diagnosis;
    EXPECT_GT(report.iterations, 0);
    const std::vector<double> b1 =
        make_vector(layout, [](GlobalIndex i) { return 1 + double(i % 4); });
    for (double& value : x) value /= size;
    EXPECT_LE(dense_residual(laplace, b1, x), 1.0001e-8);
    EXPECT_NEAR(report.rhs_norm / size, whole(b1).norm(), 1e-12);
  }
}

TEST(Cg, HistoryDoesNotDependOnTheRanks) {
  const std::function<std::vector<double>(const comm::Layout&)> history_on =
      [](const comm::Layout& layout) {
        const auto A = make_operator(layout, laplace);
        const std::vector<double> b = hashed_vector(layout, 14);
        std::vector<double> x(b.size(), 0.0);
        return run_cg(A, nullptr, b, x, {.max_iterations = 15}).history;
      };
  const std::vector<double> spread = history_on(uniform(45));
  const std::vector<double> single = history_on(on_last_rank(45));
  ASSERT_EQ(spread.size(), single.size());
  for (std::size_t k = 0; k < single.size(); ++k) {
    EXPECT_NEAR(spread[k], single[k], 1e-12 * single[k]);
  }
}

TEST(Cg, ObserverSeesEveryIteration) {
  const comm::Layout layout = uniform(20);
  const auto A = make_operator(layout, laplace);
  const std::vector<double> b = hashed_vector(layout, 15);
  std::vector<double> x(b.size(), 0.0);
  std::vector<double> seen = {1.0};
  const Report report =
      solve::cg<double>(A, nullptr, b, x, {}, [&](int iteration, double relative) {
        EXPECT_EQ(static_cast<std::size_t>(iteration), seen.size());
        seen.push_back(relative);
      });
  EXPECT_EQ(seen, report.history);
}

TEST(FlexibleCg, IsCgForAFixedPreconditioner) {
  const comm::Layout layout = uniform(60);
  const auto A = make_operator(layout, laplace);
  const Pointwise<double> M(
      layout, [](GlobalIndex i, double r) { return r / (1 + static_cast<double>(i % 5)); });
  const std::vector<double> b = hashed_vector(layout, 17);
  std::vector<double> x(b.size(), 0.0);
  const Report fixed = run_cg(A, &M, b, x, {.max_iterations = 25});
  x.assign(b.size(), 0.0);
  const Report flexible = solve::flexible_cg<double>(A, &M, b, x, {.max_iterations = 25});
  EXPECT_EQ(flexible.method, "flexible_cg");
  ASSERT_EQ(flexible.history.size(), fixed.history.size());
  for (std::size_t k = 0; k < fixed.history.size(); ++k) {
    EXPECT_NEAR(flexible.history[k], fixed.history[k], 1e-7 * fixed.history[k]);
  }
}

// A preconditioner that is another map every time, as one that ends by an inner tolerance.
TEST(FlexibleCg, CopesWithAPreconditionerThatChanges) {
  const comm::Layout layout = uniform(100);
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) + (i == j ? 0.01 : 0.0);
  };
  const auto A = make_operator(layout, entry);
  const std::vector<double> b = hashed_vector(layout, 18);
  class Changing final : public solve::Operator<double> {
   public:
    explicit Changing(comm::Layout l) : layout_(std::move(l)) {}
    const comm::Layout& layout() const override { return layout_; }
    void apply(std::span<const double> x, std::span<double> y) const override {
      ++calls_;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto row = static_cast<std::size_t>(layout_.to_global(static_cast<LocalIndex>(i)));
        y[i] = x[i] * (1.0 + 0.3 * static_cast<double>((row + calls_) % 3));
      }
    }

   private:
    comm::Layout layout_;
    mutable std::size_t calls_ = 0;
  };
  const auto iterations = [&](const char* method) {
    const Changing M(layout);
    std::vector<double> x(b.size(), 0.0);
    const Report report = solve::solve_by<double>(method, A, &M, b, x, {.max_iterations = 5000});
    EXPECT_EQ(report.converged(), report.true_relative_residual <= 1e-8);
    return report.converged() ? report.iterations : 5000;
  };
  const int flexible = iterations("flexible_cg");
  EXPECT_LT(flexible, 1000);
  EXPECT_LT(flexible, iterations("cg"));
}

TEST(Cg, WrongArgumentsThrowAlikeOnEveryRank) {
  const comm::Layout layout = uniform(20);
  const auto A = make_operator(layout, laplace);
  std::vector<double> b = hashed_vector(layout, 16);
  std::vector<double> x(b.size(), 0.0);
  const auto code_of = [&](const solve::Operator<double>* M, const Options& options) {
    try {
      run_cg(A, M, b, x, options);
    } catch (const Error& error) {
      EXPECT_EQ(mpi::broadcast(*test_comm(), std::string(error.what()), 0), error.what());
      return static_cast<int>(error.code());
    }
    return 0;
  };
  EXPECT_EQ(code_of(nullptr, {.tolerance = nan}), static_cast<int>(ErrorCode::invalid_argument));
  EXPECT_EQ(code_of(nullptr, {.max_iterations = -1}),
            static_cast<int>(ErrorCode::invalid_argument));
  const Pointwise<double> M(uniform(21), [](GlobalIndex, double r) { return r; });
  EXPECT_EQ(code_of(&M, {}), static_cast<int>(ErrorCode::dimension_mismatch));
  if (test_comm()->rank() == test_comm()->size() - 1) b.push_back(1);  // on one rank only
  EXPECT_EQ(code_of(nullptr, {}), static_cast<int>(ErrorCode::dimension_mismatch));
}

}  // namespace solve_cg_test
}  // namespace nodewise::test
