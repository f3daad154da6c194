// What `auto` does where multigrid is refused, or its solve fails.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/solver/factors.hpp"
#include "nodewise/solver/presets.hpp"
#include "nodewise/solver/solver.hpp"

#include "collective_error.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solver_ways_out_test {

using matrix::DistMatrix;
using testing::ElementsAre;
using testing::HasSubstr;
using MatrixPointer = std::shared_ptr<const DistMatrix<double>>;

MatrixPointer matrix_of(const comm::Layout& layout, const Entry& entry) {
  return std::make_shared<const DistMatrix<double>>(make_operator<double>(layout, entry).matrix());
}

std::vector<std::string> names(const advise::ProblemFacts& facts, bool may_leave) {
  std::vector<std::string> all;
  for (const auto& choice : solver::choose_presets(facts, {.may_leave_multigrid = may_leave})) {
    all.push_back(choice.preset->name);
  }
  return all;
}

advise::ProblemFacts of_a_laplacian() {
  advise::ProblemFacts facts;
  facts.rows = 100;
  facts.symmetric = true;
  facts.zero_sum_share = 0.9;
  facts.mean_row = 5;
  facts.longest_row = 5;
  return facts;
}

TEST(WaysOut, MultigridComesFirstWhereItCan) {
  const auto some = names(of_a_laplacian(), true);
  EXPECT_EQ(some.front(), "poisson");
  EXPECT_EQ(some.back(), "indefinite");
  EXPECT_THAT(names(of_a_laplacian(), false), ElementsAre("poisson"));
  advise::ProblemFacts facts = of_a_laplacian();
  facts.zero_diagonals = 10;
  EXPECT_NE(names(facts, true).front(), "poisson");
  facts.zero_diagonals = 0;
  facts.nonpositive_diagonals = 50;
  EXPECT_NE(names(facts, true).front(), "default");
  facts.nonpositive_diagonals = 99;
  EXPECT_EQ(names(facts, true).front(), "default");
  facts.empty_rows = 1;  // the setup says so
  EXPECT_EQ(names(facts, true).size(), 1U);
}

/// [L B^T; B 0] in one order of rows, definite on the first m.
Entry saddle_point(GlobalIndex m) {
  return [m](GlobalIndex i, GlobalIndex j) {
    if (i < m && j < m) return i == j ? 2.5 : std::abs(i - j) == 1 ? -1.0 : 0.0;
    if (i >= m && j >= m) return 0.0;
    const GlobalIndex row = std::max(i, j) - m, column = std::min(i, j);
    return column == 2 * row ? 1.0 : column == 2 * row + 1 ? -1.0 : 0.0;
  };
}

const solver::SolveRecord& solved(Solver& solver, const MatrixPointer& A, std::vector<double>& x) {
  const std::vector<double> v = hashed_vector(A->rows(), 3);
  std::vector<double> b(v.size());
  matrix::multiply<double>(*A, v, b);
  x.assign(v.size(), 0);
  const solver::SolveRecord& record = solver.solve(b, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - v[i]));
  EXPECT_LT(worst, 1e-5);
  return record;
}

TEST(WaysOut, SaddlePointsAreSolved) {
  for (const bool symmetric : {true, false}) {
    const Entry entry = [=, saddle = saddle_point(60)](GlobalIndex i, GlobalIndex j) {
      return symmetric || j != i + 1 ? saddle(i, j) : 1.3 * saddle(i, j);
    };
    const MatrixPointer A = matrix_of(uniform(80), entry);
    Solver solver(A);
    std::vector<double> x;
    const solver::SolveRecord& record = solved(solver, A, x);
    EXPECT_TRUE(record.converged());
    EXPECT_EQ(record.preset.rule, "auto");
    EXPECT_THAT(record.preset.reason, HasSubstr("20 of 80 rows have no nonzero diagonal entry"));
    EXPECT_TRUE(record.attempts.empty());
    if (solver::has_mumps()) {
      EXPECT_EQ(record.preconditioner, "direct");
    } else {
      EXPECT_EQ(record.preconditioner, "fields");
    }
  }
}

/// Points on a line whose unknowns are all coupled, in units that differ by powers of ten.
Entry dense_blocks(int k) {
  return [k](GlobalIndex i, GlobalIndex j) {
    const GlobalIndex distance = std::abs(i / k - j / k);
    if (distance > 1) return 0.0;
    const double unit = std::pow(10.0, static_cast<double>(i % k));
    const double mixed = 0.1 + 0.9 * hash_uniform(static_cast<std::uint64_t>(i * 997 + j), 7);
    return unit * (i == j ? 3.0 * k : distance == 0 ? mixed : i > j ? -0.9 * mixed : -0.1 * mixed);
  };
}

TEST(WaysOut, DenseBlocksOfNonsymmetricMatricesAreSeen) {
  for (const int k : {1, 2, 3, 4, 6}) {
    const MatrixPointer A = matrix_of(uniform(72 * test_comm()->size()), dense_blocks(k));
    EXPECT_EQ(advise::problem_facts(*A).dense_blocks, k);
    Solver solver(A);
    std::vector<double> x;
    const solver::SolveRecord& record = solved(solver, A, x);
    EXPECT_TRUE(record.converged());
    EXPECT_EQ(record.preset.name == "blocks", k > 1);
    EXPECT_EQ(record.options.amg.unknowns, k);
  }
}

TEST(WaysOut, WhatWasGivenIsNotLeft) {
  const MatrixPointer A = matrix_of(uniform(80), saddle_point(60));
  for (const auto& [name, value] : solver::NamedValues{
           {"preconditioner", "amg"}, {"solver", "gmres"}, {"smoother", "jacobi"}}) {
    solver::Options options;
    options.set(name, value);
    EXPECT_THAT(
        expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix, [&] { Solver(A, options); }),
        HasSubstr("no nonzero diagonal entry"));
  }
}

/// A Laplacian from which so much is subtracted that some eigenvalues are negative.
Entry helmholtz(int n) {
  return [laplace = periodic_laplace(n, 1)](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) - (i == j ? 0.77 : 0);
  };
}

TEST(WaysOut, AFailedSolveIsMadeByAnotherPreset) {
  const MatrixPointer A = matrix_of(uniform(144), helmholtz(12));
  Solver solver(A);
  std::vector<double> x;
  const solver::SolveRecord& record = solved(solver, A, x);
  EXPECT_TRUE(record.converged());
  ASSERT_EQ(record.attempts.size(), 1U);
  EXPECT_EQ(record.attempts[0].preconditioner, "amg");
  EXPECT_EQ(record.attempts[0].method, "cg");
  EXPECT_THAT(record.preset.reason, HasSubstr(record.attempts[0].why));
  EXPECT_EQ(record.preset.rule, "auto");
  // The next solve goes the way that did.
  EXPECT_TRUE(solved(solver, A, x).converged());
  EXPECT_EQ(solver.record().attempts.size(), 1U);
}

TEST(WaysOut, NothingFollowsFactorsThatLeaveWhatRoundingDoes) {
  if (!solver::has_mumps()) GTEST_SKIP() << "NOT TESTED: there is no MUMPS";
  const MatrixPointer A = matrix_of(uniform(144), helmholtz(12));
  solver::Options options;
  options.set("tolerance", "1e-30");
  Solver solver(A, options);
  std::vector<double> x;
  const solver::SolveRecord& record = solved(solver, A, x);
  EXPECT_FALSE(record.converged());
  EXPECT_EQ(record.preset.name, "direct");
  EXPECT_LE(record.report().true_relative_residual, 1e-12);
}

TEST(WaysOut, ALimitThatWasGivenEndsASolve) {
  const MatrixPointer A = matrix_of(uniform(144), periodic_laplace(12, 1));
  solver::Options options;
  options.set("max_iterations", "1");
  Solver solver(A, options);
  const std::vector<double> b = hashed_vector(A->rows(), 3);
  std::vector<double> x(b.size(), 0);
  EXPECT_EQ(solver.solve(b, x).report().outcome, solve::Outcome::max_iterations);
  EXPECT_TRUE(solver.record().attempts.empty());
}

TEST(WaysOut, FactorsBeyondTheLimitAreNotMade) {
  if (!solver::has_mumps()) GTEST_SKIP() << "this build has no MUMPS";
  const MatrixPointer A = matrix_of(uniform(144), helmholtz(12));
  solver::Options options;
  options.set("preconditioner", "direct");
  options.set("factor_limit", "100");
  EXPECT_THAT(
      expect_same_error(*test_comm(), ErrorCode::out_of_memory, [&] { Solver(A, options); }),
      HasSubstr("`factor_limit`"));
}

}  // namespace solver_ways_out_test
}  // namespace nodewise::test
