// What every Krylov method has to do, and the ways in which none may fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective_error.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_methods_test {

using solve::Options;
using solve::Outcome;
using solve::Report;
using solve::ResidualNorm;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<std::string> all_methods() {
  return solve::KrylovMethod::family().names();
}

/// Diagonally dominant, and badly scaled by a variable diagonal.
double dominant(GlobalIndex i, GlobalIndex j) {
  const double diagonal = 1.0 + static_cast<double>(i % 7);
  return laplace(i, j) + (i == j ? diagonal : 0.0);
}

class EveryMethod : public testing::TestWithParam<std::string> {
 protected:
  static Report run(const solve::Operator<double>& A, const solve::Operator<double>* M,
                    const std::vector<double>& b, std::vector<double>& x,
                    const Options& options = {}) {
    return solve::solve_by<double>(GetParam(), A, M, b, x, options);
  }
  static const solve::KrylovMethod& method() {
    return solve::KrylovMethod::family().find(GetParam());
  }
  static bool needs_definite_matrix() {
    return method().suited_for == solve::SuitedFor::positive_definite_ones;
  }
  static bool needs_definite_preconditioner() {
    return method().suited_for != solve::SuitedFor::any_matrix;
  }
  static bool knows_all_norms() { return method().knows_all_norms; }
  static bool is_stationary() { return GetParam() == "stationary"; }

  /// Of x after a failure, against the smallest residual seen.
  static constexpr double as_good = 1.1;
  static double smallest(const Report& report) {
    return *std::min_element(report.history.begin(), report.history.end());
  }

  /// Division by the diagonal: one half of it for the stationary iteration, which then converges.
  static Pointwise<double> jacobi(const comm::Layout& layout, const Entry& entry) {
    const double factor = is_stationary() ? 0.5 : 1.0;
    return {layout, [entry, factor](GlobalIndex i, double r) { return factor * r / entry(i, i); }};
  }

  /// What is reported agrees with the system, and so does the claim to have converged.
  static void expect_honest(const Report& report, const Entry& entry, const std::vector<double>& b,
                            const std::vector<double>& x, double tolerance) {
    EXPECT_TRUE(whole(x).allFinite());
    const double residual = dense_residual(entry, b, x);
    EXPECT_NEAR(report.true_relative_residual, residual, 1e-12 + 1e-6 * residual);
    EXPECT_EQ(report.method, GetParam());
    EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
    EXPECT_EQ(report.converged(), report.diagnosis.empty());
    EXPECT_EQ(report.converged(), residual <= tolerance * (1 + 1e-6)) << residual;
    expect_same_on_all_ranks(report);
  }
};

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}
INSTANTIATE_TEST_SUITE_P(Krylov, EveryMethod, testing::ValuesIn(all_methods()), name_of);

TEST_P(EveryMethod, SolvesADominantSystem) {
  for (const comm::Layout& layout : {uniform(37), on_last_rank(37), uniform(3)}) {
    const auto A = make_operator(layout, dominant);
    const Pointwise<double> M = jacobi(layout, dominant);
    const std::vector<double> b = hashed_vector(layout, 1);
    for (const solve::Operator<double>* m :
         {(const solve::Operator<double>*)nullptr, (const solve::Operator<double>*)&M}) {
      if (m == nullptr && is_stationary()) continue;
      std::vector<double> x = hashed_vector(layout, 2);
      const Report report = run(A, m, b, x);
      EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
      expect_honest(report, dominant, b, x, 1e-8);
      EXPECT_NEAR(report.rhs_norm, whole(b).norm(), 1e-14);
      EXPECT_EQ(report.reference_norm, report.rhs_norm);
      EXPECT_EQ(report.target, 1e-8);
      EXPECT_LE(report.iterations, is_stationary() ? 150 : 40);
    }
  }
}

TEST_P(EveryMethod, SinglePrecision) {
  const comm::Layout layout = uniform(40);
  const auto A = make_operator<float>(layout, dominant);
  const float factor = is_stationary() ? 0.5F : 1.0F;
  const Pointwise<float> M(layout, [factor](GlobalIndex i, float r) {
    return factor * r / static_cast<float>(dominant(i, i));
  });
  const auto b =
      make_vector<float>(layout, [](GlobalIndex i) { return 1.0 + 0.1 * double(i % 3); });
  std::vector<float> x(b.size(), 0.0F);
  const Report report = solve::solve_by<float>(GetParam(), A, &M, b, x, {.tolerance = 3e-6});
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(dense_residual(dominant, b, x), 4e-6);
}

TEST_P(EveryMethod, ZeroRightHandSideHasTheZeroSolution) {
  const comm::Layout layout = uniform(11);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M = jacobi(layout, dominant);
  const std::vector<double> b(hashed_vector(layout, 0).size(), 0.0);
  std::vector<double> x = hashed_vector(layout, 12);
  const Report report = run(A, &M, b, x, {.tolerance = 0});
  EXPECT_EQ(report.outcome, Outcome::converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(report.true_relative_residual, 0.0);
  EXPECT_EQ(whole(x).norm(), 0.0);
}

TEST_P(EveryMethod, AnExactStartIsAccepted) {
  const comm::Layout layout = uniform(11);
  const auto A = make_operator(layout, laplace);
  std::vector<double> x = make_vector(layout, [](GlobalIndex i) { return double(i); });
  std::vector<double> b(x.size());
  A.apply(x, b);
  const std::vector<double> start = x;
  for (const int limit : {0, 10}) {
    const Report report = run(A, nullptr, b, x, {.tolerance = 0, .max_iterations = limit});
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(x, start);
  }
}

TEST_P(EveryMethod, NoIterationsAllowed) {
  const comm::Layout layout = uniform(11);
  const auto A = make_operator(layout, dominant);
  const std::vector<double> b = hashed_vector(layout, 13);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x, {.max_iterations = 0});
  EXPECT_EQ(report.outcome, Outcome::max_iterations);
  EXPECT_EQ(report.history, std::vector<double>{1.0});
  EXPECT_EQ(report.true_relative_residual, 1.0);
}

TEST_P(EveryMethod, StopsAtTheLimit) {
  const comm::Layout layout = uniform(60);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M = jacobi(layout, dominant);
  const std::vector<double> b = hashed_vector(layout, 14);
  for (const int limit : {1, 2, 4}) {
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, &M, b, x, {.max_iterations = limit});
    EXPECT_EQ(report.outcome, Outcome::max_iterations);
    EXPECT_EQ(report.iterations, limit);
    EXPECT_NEAR(report.true_relative_residual, report.history.back(), 1e-12);
    expect_honest(report, dominant, b, x, 1e-8);
  }
}

TEST_P(EveryMethod, NanOrInfinityInTheData) {
  const comm::Layout layout = uniform(9);
  const auto A = make_operator(layout, dominant);
  for (const double bad : {nan, inf, -inf}) {
    const std::vector<double> good = hashed_vector(layout, 5);
    const std::vector<double> spoilt =
        make_vector(layout, [bad](GlobalIndex i) { return i == 7 ? bad : 1.0; });
    std::vector<double> x(good.size(), 0.0);
    Report report = run(A, nullptr, spoilt, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_THAT(report.diagnosis, HasSubstr("1 of the right-hand side's entries"));
    EXPECT_EQ(whole(x).norm(), 0.0);
    x = spoilt;
    report = run(A, nullptr, good, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite);
    EXPECT_THAT(report.diagnosis, HasSubstr("1 of the initial guess's entries"));
    expect_same_on_all_ranks(report);
  }
}

TEST_P(EveryMethod, NanInTheMatrix) {
  const comm::Layout layout = uniform(10);
  const auto A = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return i == 3 && j == 3 ? nan : dominant(i, j); });
  const std::vector<double> b = hashed_vector(layout, 7);
  for (const double start : {0.0, 1.0}) {
    std::vector<double> x(b.size(), start);
    const Report report = run(A, nullptr, b, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite);
    EXPECT_EQ((whole(x).array() - start).matrix().norm(), 0.0);
    EXPECT_TRUE(std::isnan(report.true_relative_residual));
    expect_same_on_all_ranks(report);
  }
}

TEST_P(EveryMethod, NanFromThePreconditioner) {
  const comm::Layout layout = uniform(16);
  const auto A = make_operator(layout, dominant);
  const std::vector<double> b = hashed_vector(layout, 6);
  for (const int spoilt_call : {1, 2, 3, 5}) {
    int calls = 0;
    const Pointwise<double> M(layout, [&](GlobalIndex i, double r) {
      if (i == layout.begin()) ++calls;
      return i == 15 && calls >= spoilt_call ? nan : 0.5 * r / dominant(i, i);
    });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, &M, b, x);
    EXPECT_EQ(report.outcome, Outcome::not_finite) << report.diagnosis;
    EXPECT_THAT(report.diagnosis, HasSubstr("preconditioner"));
    EXPECT_LE(report.true_relative_residual, 1.0);
    EXPECT_TRUE(whole(x).allFinite());
    EXPECT_NEAR(report.true_relative_residual, dense_residual(dominant, b, x), 1e-13);
    expect_same_on_all_ranks(report);
  }
}

TEST_P(EveryMethod, SingularConsistentSystem) {
  const GlobalIndex n = 9;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  const Pointwise<double> M = jacobi(layout, neumann(n));
  const std::vector<double> b = make_vector(layout, [](GlobalIndex i) {  // sums to zero
    return static_cast<double>(i) - static_cast<double>(n - 1) / 2;
  });
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, &M, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  expect_honest(report, neumann(n), b, x, 1e-8);
}

TEST_P(EveryMethod, SingularSystemWithoutSolution) {
  const GlobalIndex n = is_stationary() ? 9 : 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  const Pointwise<double> M = jacobi(layout, neumann(n));
  for (const double outside : {1.0, 0.1, 1e-4}) {
    const std::vector<double> b = make_vector(layout, [&](GlobalIndex i) {
      return outside + static_cast<double>(i) - static_cast<double>(n - 1) / 2;
    });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, &M, b, x, {.max_iterations = 3000});
    EXPECT_EQ(report.outcome, Outcome::inconsistent) << report.diagnosis;
    EXPECT_THAT(report.diagnosis, HasSubstr("no solution"));
    // The recurrences may promise less than there is; those of pipelined CG part from x the most.
    const double least = outside * std::sqrt(static_cast<double>(n)) / whole(b).norm();
    const double factor = GetParam() == "pipelined_cg" ? 20 : as_good;
    EXPECT_LE(report.true_relative_residual, factor * std::max(least, smallest(report)));
    EXPECT_LE(report.true_relative_residual, 1.0);
    expect_honest(report, neumann(n), b, x, 1e-8);
  }
}

// Whatever the guess: better than zero and worse, in the null space and a least-squares solution.
TEST_P(EveryMethod, IsNeverWorseThanTheStartOrZero) {
  const GlobalIndex n = is_stationary() ? 9 : 31;
  const comm::Layout layout = uniform(n);
  const auto A = make_operator(layout, neumann(n));
  const Pointwise<double> M = jacobi(layout, neumann(n));
  const std::vector<double> balanced = hashed_vector(layout, 20);
  std::vector<double> outside(balanced.size());
  A.apply(balanced, outside);
  for (double& value : outside) value += 0.3;
  const std::vector<double> other = hashed_vector(layout, 21);
  for (const std::vector<double>& b : {outside, other}) {
    for (const double factor : {0.0, 0.01, 1.0, 30.0}) {
      for (const double shift : {0.0, 1000.0}) {
        for (const int limit : {1, 3, 3000}) {
          std::vector<double> x = balanced;
          for (double& value : x) value = factor * value + shift;
          const double of_start = dense_residual(neumann(n), b, x);
          const Report report = run(A, &M, b, x, {.max_iterations = limit});
          const bool cut = report.outcome == Outcome::max_iterations;
          const double most = cut ? 2 * std::max(1.0, of_start) : std::min(1.0, of_start);
          EXPECT_LE(report.true_relative_residual, most * (1 + 1e-12));
          expect_honest(report, neumann(n), b, x, 1e-8);
        }
      }
    }
  }
}

// Steps along the null vector are enormous, and round-off hides them from the recurrences.
TEST_P(EveryMethod, NoGarbageFromASingularSystem) {
  if (is_stationary()) return;
  const GlobalIndex n = 40;
  const comm::Layout layout = uniform(n * n);
  for (const double scale : {1.0, 0.1, 1600.0 / 3}) {
    const Entry entry = periodic_laplace(n, scale);
    const auto A = make_operator(layout, entry);
    for (const std::vector<double>& b :
         {hashed_vector(layout, 3), make_vector(layout, [](GlobalIndex) { return 1.0; })}) {
      std::vector<double> x(b.size(), 0.0);
      const Report report = run(A, nullptr, b, x);
      EXPECT_EQ(report.outcome, Outcome::inconsistent) << report.diagnosis;
      EXPECT_LE(report.true_relative_residual, 1.0);
      EXPECT_TRUE(whole(x).allFinite());
      std::vector<double> r(b.size());
      A.apply(x, r);
      for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
      EXPECT_NEAR(report.true_relative_residual, whole(r).norm() / whole(b).norm(), 1e-9);
      expect_same_on_all_ranks(report);
    }
  }
}

// One diagonal entry has the wrong sign, and all of them: some methods can, none may pretend to.
TEST_P(EveryMethod, WrongSignsOnTheDiagonal) {
  const comm::Layout layout = uniform(23);
  const Entry one = [](GlobalIndex i, GlobalIndex j) {
    return i == 11 && j == 11 ? -3.0 : dominant(i, j);
  };
  const Entry all = [](GlobalIndex i, GlobalIndex j) { return -dominant(i, j); };
  for (const Entry& entry : {one, all}) {
    const auto A = make_operator(layout, entry);
    const std::vector<double> b = hashed_vector(layout, 8);
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, nullptr, b, x);
    expect_honest(report, entry, b, x, 1e-8);
    EXPECT_LE(report.true_relative_residual, 1.0);
    if (needs_definite_matrix()) {
      EXPECT_EQ(report.outcome, Outcome::indefinite_matrix);
    } else if (is_stationary()) {
      EXPECT_EQ(report.outcome, Outcome::diverged);
    } else {
      EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    }
    x.assign(b.size(), 0.0);
    const Pointwise<double> M = jacobi(layout, entry);
    const Report preconditioned = run(A, &M, b, x);
    expect_honest(preconditioned, entry, b, x, 1e-8);
    EXPECT_LE(preconditioned.true_relative_residual, 1.0);
    if (GetParam() == "enlarged_cg") {  // which may meet either first
      EXPECT_FALSE(preconditioned.converged());
    } else if (needs_definite_preconditioner()) {
      EXPECT_EQ(preconditioned.outcome, Outcome::indefinite_preconditioner)
          << preconditioned.diagnosis;
    }
  }
}

TEST_P(EveryMethod, AMatrixOfZeros) {
  const comm::Layout layout = uniform(12);
  const Entry zero = [](GlobalIndex, GlobalIndex) { return 0.0; };
  const auto A = make_operator(layout, zero);
  const std::vector<double> b = hashed_vector(layout, 9);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x);
  EXPECT_FALSE(report.converged());
  expect_honest(report, zero, b, x, 1e-8);
  EXPECT_EQ(report.true_relative_residual, 1.0);
}

TEST_P(EveryMethod, APreconditionerOfZeros) {
  const comm::Layout layout = uniform(12);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M(layout, [](GlobalIndex, double) { return 0.0; });
  const std::vector<double> b = hashed_vector(layout, 9);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, &M, b, x, {.stagnation_window = 20});
  EXPECT_FALSE(report.converged());
  expect_honest(report, dominant, b, x, 1e-8);
}

TEST_P(EveryMethod, DegenerateShapes) {
  for (const GlobalIndex n : {0, 1, 2, 3}) {
    for (const comm::Layout& layout : {uniform(n), on_last_rank(n)}) {
      const auto A = make_operator(layout, dominant);
      const Pointwise<double> M = jacobi(layout, dominant);
      const std::vector<double> b =
          make_vector(layout, [](GlobalIndex i) { return 3.0 - double(i); });
      std::vector<double> x(b.size(), 0.0);
      const Report report = run(A, &M, b, x);
      EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
      EXPECT_EQ(report.iterations == 0, n == 0);
      if (n > 0) {
        EXPECT_LE(dense_residual(dominant, b, x), 1e-8);
      }
      if (!is_stationary()) {
        EXPECT_LE(report.iterations, n);
      }
      expect_same_on_all_ranks(report);
    }
  }
}

TEST_P(EveryMethod, TinyAndHugeRightHandSides) {
  const comm::Layout layout = uniform(15);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M = jacobi(layout, dominant);
  for (const double size : {1e-300, 1e-200, 1e200, 1e300}) {
    const std::vector<double> b =
        make_vector(layout, [size](GlobalIndex i) { return size * (1 + double(i % 4)); });
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, &M, b, x);
    EXPECT_EQ(report.outcome, Outcome::converged) << size << ": " << report.diagnosis;
    const std::vector<double> b1 =
        make_vector(layout, [](GlobalIndex i) { return 1 + double(i % 4); });
    for (double& value : x) value /= size;
    EXPECT_LE(dense_residual(dominant, b1, x), 1.0001e-8);
    EXPECT_NEAR(report.rhs_norm / size, whole(b1).norm(), 1e-12);
  }
}

// A tolerance below what rounding allows is not claimed, and what is allowed is reached.
TEST_P(EveryMethod, NamesTheAttainableAccuracy) {
  const comm::Layout layout = uniform(30);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M = jacobi(layout, dominant);
  const std::vector<double> b = hashed_vector(layout, 4);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, &M, b, x, {.tolerance = 1e-20});
  EXPECT_EQ(report.outcome, Outcome::stagnated) << report.diagnosis;
  EXPECT_LE(report.true_relative_residual, 2e-15);
  // Enlarged CG has used up 30 rows after some iterations and starts again from each true residual.
  const int most = GetParam() == "enlarged_cg" ? 200 : 100;
  EXPECT_LE(report.iterations, is_stationary() ? 700 : most);
}

TEST_P(EveryMethod, HistoryDoesNotDependOnTheRanks) {
  const auto history_on = [](const comm::Layout& layout) {
    const auto A = make_operator(layout, dominant);
    const Pointwise<double> M = jacobi(layout, dominant);
    const std::vector<double> b = hashed_vector(layout, 14);
    std::vector<double> x(b.size(), 0.0);
    return run(A, &M, b, x, {.tolerance = 1e-12, .max_iterations = 9}).history;
  };
  const std::vector<double> spread = history_on(uniform(45));
  const std::vector<double> single = history_on(on_last_rank(45));
  ASSERT_EQ(spread.size(), single.size());
  for (std::size_t k = 0; k < single.size(); ++k) {
    EXPECT_NEAR(spread[k], single[k], 1e-9 * single[k]);
  }
}

/// The three norms of b - A x, relative to those of b, by dense arithmetic.
double dense_norm(ResidualNorm norm, const Entry& entry, const solve::Operator<double>& M,
                  const std::vector<double>& b, const std::vector<double>& x) {
  const Eigen::VectorXd bw = whole(b);
  const Eigen::VectorXd r = bw - dense(bw.size(), entry) * whole(x);
  const std::vector<double> r_part = make_vector(M.layout(), [&](GlobalIndex i) { return r[i]; });
  std::vector<double> Mr(r_part.size());
  std::vector<double> Mb(r_part.size());
  M.apply(r_part, Mr);
  M.apply(b, Mb);
  if (norm == ResidualNorm::unpreconditioned) return r.norm() / bw.norm();
  if (norm == ResidualNorm::preconditioned) return whole(Mr).norm() / whole(Mb).norm();
  return std::sqrt(r.dot(whole(Mr)) / bw.dot(whole(Mb)));
}

TEST_P(EveryMethod, StopsByTheNormAskedFor) {
  const comm::Layout layout = uniform(40);
  const Entry scaled = [](GlobalIndex i, GlobalIndex j) {
    return dominant(i, j) * std::pow(10.0, 0.05 * static_cast<double>(i + j));
  };
  const auto A = make_operator(layout, scaled);
  const Pointwise<double> M = jacobi(layout, scaled);
  const std::vector<double> b = hashed_vector(layout, 15);
  for (const ResidualNorm norm :
       {ResidualNorm::unpreconditioned, ResidualNorm::preconditioned, ResidualNorm::natural}) {
    const Options options{.tolerance = 1e-7, .norm = norm};
    std::vector<double> x(b.size(), 0.0);
    if (norm != ResidualNorm::unpreconditioned && !knows_all_norms()) {
      EXPECT_THROW(run(A, &M, b, x, options), Error);
      continue;
    }
    const Report report = run(A, &M, b, x, options);
    EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    EXPECT_EQ(report.norm, norm);
    EXPECT_LE(dense_norm(norm, scaled, M, b, x), 1.00001e-7);
    EXPECT_NEAR(report.history.back(), dense_norm(norm, scaled, M, b, x), 1e-13);
    EXPECT_NEAR(report.true_relative_residual, dense_residual(scaled, b, x), 1e-13);
    EXPECT_NEAR(report.rhs_norm, whole(b).norm(), 1e-13);
    // The iteration before had not converged, or there would have been none.
    EXPECT_GT(report.history.at(report.history.size() - 2), 1e-7);
    // Another start, and a limit: the numbers are still those of the system.
    x = hashed_vector(layout, 16);
    Options limited = options;
    limited.max_iterations = 5;
    const Report cut = run(A, &M, b, x, limited);
    EXPECT_EQ(cut.outcome, Outcome::max_iterations);
    EXPECT_EQ(cut.iterations, 5);
    EXPECT_NEAR(cut.history.back(), dense_norm(norm, scaled, M, b, x), 1e-9);
    EXPECT_NEAR(cut.true_relative_residual, dense_residual(scaled, b, x), 1e-9);
  }
}

TEST_P(EveryMethod, AbsoluteTolerance) {
  const comm::Layout layout = uniform(40);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M = jacobi(layout, dominant);
  for (const double size : {1.0, 1e-200}) {  // the small one is scaled while it is solved
    const std::vector<double> b =
        make_vector(layout, [size](GlobalIndex i) { return size * (5.0 + double(i % 3)); });
    const double norm =
        size * whole(make_vector(layout, [](GlobalIndex i) { return 5.0 + double(i % 3); })).norm();
    std::vector<double> x(b.size(), 0.0);
    const Options options{.tolerance = 1e-12, .absolute_tolerance = 1e-4 * norm};
    const Report loose = run(A, &M, b, x, options);
    EXPECT_EQ(loose.outcome, Outcome::converged) << loose.diagnosis;
    EXPECT_TRUE(loose.target_is_absolute(options));
    EXPECT_NEAR(loose.target, 1e-4, 1e-12);
    EXPECT_LE(loose.true_relative_residual, 1e-4);
    EXPECT_GT(loose.true_relative_residual, 1e-12);
    // Larger than the right-hand side: zero will do.
    x.assign(b.size(), 0.0);
    EXPECT_EQ(run(A, &M, b, x, {.absolute_tolerance = 2 * norm}).iterations, 0);
  }
}

TEST_P(EveryMethod, ObserverSeesEveryIterationAndMayEndTheSolve) {
  const comm::Layout layout = uniform(40);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M = jacobi(layout, dominant);
  const std::vector<double> b = hashed_vector(layout, 15);
  std::vector<double> x(b.size(), 0.0);
  std::vector<double> seen = {1.0};
  const Report report =
      solve::solve_by<double>(GetParam(), A, &M, b, x, {}, [&](int iteration, double relative) {
        EXPECT_EQ(static_cast<std::size_t>(iteration), seen.size());
        seen.push_back(relative);
      });
  EXPECT_EQ(seen, report.history);
  // One rank has enough: all end, in the same iteration.
  x.assign(b.size(), 0.0);
  const bool is_last = test_comm()->rank() == test_comm()->size() - 1;
  const Report ended =
      solve::solve_by<double>(GetParam(), A, &M, b, x, {},
                              [&](int iteration, double) { return !is_last || iteration < 3; });
  EXPECT_EQ(ended.outcome, Outcome::interrupted);
  EXPECT_EQ(ended.iterations, 3);
  expect_honest(ended, dominant, b, x, 1e-8);
}

/// A diagonal that is scaled by another number for each row at every change.
class ChangingDiagonal : public solve::Operator<double> {
 public:
  explicit ChangingDiagonal(const comm::Layout& layout) : layout_(layout) {}
  const comm::Layout& layout() const override { return layout_; }
  void apply(std::span<const double> r, std::span<double> z) const override {
    for (std::size_t i = 0; i < r.size(); ++i)
      z[i] = (1 + 0.2 * double((i + n_changes) % 3)) * r[i];
  }
  std::size_t n_changes = 0;

 private:
  comm::Layout layout_;
};

TEST_P(EveryMethod, BearsAnotherPreconditionerOrRefusesIt) {
  const comm::Layout layout = uniform(40);
  const auto A = make_operator(layout, dominant);
  ChangingDiagonal M(layout);
  const std::vector<double> b = hashed_vector(layout, 15);
  std::vector<double> x(b.size(), 0.0);
  std::vector<double> seen = {1.0}, changed = {1.0};
  const auto solve = [&](const Options& options) {
    return solve::solve_by<double>(GetParam(), A, &M, b, x, options,
                                   solve::Observer([&](int, double relative) {
                                     seen.push_back(relative);
                                   }).changing_preconditioner([&](int iteration, double relative) {
                                     EXPECT_EQ(static_cast<std::size_t>(iteration), changed.size());
                                     changed.push_back(relative);
                                     ++M.n_changes;
                                   }));
  };
  const Choice<solve::KrylovMethod> method(GetParam());
  if (method->needs_fixed_preconditioner) {
    expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] { solve({}); });
    return;
  }
  const Report report = solve({});
  EXPECT_EQ(seen, report.history);
  // The last iteration is not followed by another.
  seen.pop_back();
  EXPECT_EQ(changed, seen);
  expect_honest(report, dominant, b, x, 1e-8);
  if (!method->knows_all_norms) return;
  expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                    [&] { solve({.norm = ResidualNorm::natural}); });
}

TEST_P(EveryMethod, WrongArgumentsThrowAlikeOnEveryRank) {
  const comm::Layout layout = uniform(20);
  const auto A = make_operator(layout, dominant);
  std::vector<double> b = hashed_vector(layout, 16);
  std::vector<double> x(b.size(), 0.0);
  const auto code_of = [&](const solve::Operator<double>* M, const Options& options) {
    try {
      run(A, M, b, x, options);
    } catch (const Error& error) {
      EXPECT_EQ(mpi::broadcast(*test_comm(), std::string(error.what()), 0), error.what());
      return static_cast<int>(error.code());
    }
    return 0;
  };
  const auto invalid = static_cast<int>(ErrorCode::invalid_argument);
  const auto mismatch = static_cast<int>(ErrorCode::dimension_mismatch);
  EXPECT_EQ(code_of(nullptr, {.tolerance = nan}), invalid);
  EXPECT_EQ(code_of(nullptr, {.absolute_tolerance = -1}), invalid);
  EXPECT_EQ(code_of(nullptr, {.max_iterations = -1}), invalid);
  const Pointwise<double> M(uniform(21), [](GlobalIndex, double r) { return r; });
  EXPECT_EQ(code_of(&M, {}), mismatch);
  if (test_comm()->rank() == test_comm()->size() - 1) b.push_back(1);  // on one rank only
  EXPECT_EQ(code_of(nullptr, {}), mismatch);
}

}  // namespace solve_methods_test
}  // namespace nodewise::test
