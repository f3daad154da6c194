// Factors by MUMPS: symmetric, indefinite and nonsymmetric matrices on any layout, several vectors,
// new values, and matrices that have none.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/solver/factors.hpp"
#include "nodewise/solver/solver.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solver_factors_test {

using testing::HasSubstr;
using Matrix = matrix::DistMatrix<double>;

/// (L B^T; B 0) with L of m rows, B of m - 1: as many zeros on the diagonal as B has rows.
Entry saddle_point(GlobalIndex m) {
  return [m](GlobalIndex i, GlobalIndex j) {
    if (i < m && j < m) return laplace(i, j);
    if (i >= m && j >= m) return 0.0;
    const GlobalIndex row = std::max(i, j) - m, col = std::min(i, j);
    return col == row ? 1.0 : col == row + 1 ? -2.0 : 0.0;
  };
}

/// A cyclic shift with a little beside it: every entry of the diagonal is zero.
Entry shift(GlobalIndex n) {
  return [n](GlobalIndex i, GlobalIndex j) {
    return j == (i + 1) % n ? 2.0 : j == (i + 3) % n ? 0.5 + 0.01 * double(i) : 0.0;
  };
}

std::shared_ptr<const Matrix> matrix_on(const comm::Layout& layout, const Entry& entry) {
  const GlobalIndex first = layout.first();
  return std::make_shared<const Matrix>(
      matrix::matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, const auto& emit) {
        for (GlobalIndex j = 0; j < layout.n_global(); ++j) {
          const double value = entry(i - first, j);
          if (value != 0 || i - first == j) emit(first + j, value);
        }
      }));
}

TEST(Factors, AreTheInverseOnAnyLayout) {
  if (!solver::has_mumps()) GTEST_SKIP() << "NOT TESTED: this build is without MUMPS";
  for (const comm::Layout& layout : layouts_of(test_comm(), 41, 7)) {
    for (const Entry& entry : {Entry(laplace), saddle_point(21), shift(41)}) {
      const auto A = matrix_on(layout, entry);
      const auto inverse = solver::factorize(*A);
      const std::vector<double> X = hashed_vector(layout, 3);
      const solve::MatrixOperator<double> map(A);
      std::vector<double> b(X.size()), x(X.size());
      map.apply(X, b);
      inverse->apply(b, x);
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], X[i], 1e-10);
      // Two at once.
      std::vector<double> B(2 * b.size()), both(B.size());
      for (std::size_t i = 0; i < b.size(); ++i) B[2 * i] = b[i], B[2 * i + 1] = -2 * b[i];
      inverse->apply_block(B, both, 2, {});
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(both[2 * i], X[i], 1e-10);
        EXPECT_NEAR(both[2 * i + 1], -2 * X[i], 1e-10);
      }
    }
  }
}

TEST(Factors, SolveWhatMultigridRefusesAndNewValues) {
  if (!solver::has_mumps()) GTEST_SKIP() << "NOT TESTED: this build is without MUMPS";
  const comm::Layout layout = uniform(201);
  const auto A = matrix_on(layout, saddle_point(101));
  solver::Options options;
  options.set("preconditioner", "direct");
  Solver solver(A, options);
  const std::vector<double> b = hashed_vector(layout, 1);
  std::vector<double> x(b.size(), 0);
  const solver::SolveRecord& record = solver.solve(b, x);
  EXPECT_TRUE(record.converged());
  EXPECT_EQ(record.method.name(), "gmres");
  EXPECT_LE(record.report().iterations, 2);
  const auto other = matrix_on(layout, [](GlobalIndex i, GlobalIndex j) {
    return (i == j ? 1.5 : 1) * saddle_point(101)(i, j);
  });
  solver.rebuild(other);
  std::fill(x.begin(), x.end(), 0);
  EXPECT_LE(solver.solve(b, x).report().iterations, 2);
  EXPECT_TRUE(solver.record().converged());
}

TEST(Factors, OfMatricesThatHaveNoneAreRefusedAlikeOnAllRanks) {
  const comm::Layout layout = uniform(12);
  const auto refused = [&](const Entry& entry, ErrorCode code) {
    return expect_same_error(*test_comm(), code,
                             [&] { solver::factorize(*matrix_on(layout, entry)); });
  };
  if (!solver::has_mumps()) {
    EXPECT_THAT(refused(laplace, ErrorCode::unsupported), HasSubstr("libmumps-dev"));
    return;
  }
  const Entry empty_row = [](GlobalIndex i, GlobalIndex j) {
    return i == 5 || j == 5 ? 0 : laplace(i, j);
  };
  const Entry twice = [](GlobalIndex i, GlobalIndex j) {
    return j < 2 ? 1.0 + double(i) : shift(12)(i, j);
  };
  const Entry infinite = [](GlobalIndex i, GlobalIndex j) {
    return i == 7 && j == 8 ? HUGE_VAL : laplace(i, j);
  };
  EXPECT_THAT(refused(empty_row, ErrorCode::unsuitable_matrix), HasSubstr("singular"));
  EXPECT_THAT(refused(twice, ErrorCode::unsuitable_matrix), HasSubstr("singular"));
  EXPECT_THAT(refused(infinite, ErrorCode::unsuitable_matrix), HasSubstr("row 7"));
}

}  // namespace solver_factors_test
}  // namespace nodewise::test
