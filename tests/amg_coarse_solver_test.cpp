// The direct solver of the coarsest level.
#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "nodewise/amg/cycle/coarse_solver.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"

namespace nodewise::amg {
namespace amg_coarse_solver_test {

using test::DenseMatrix;
using test::distribute;
using test::dot;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::norm;
using test::part_of;
using test::test_comm;

DenseMatrix solve(const CoarseSolver<double>& solver, const matrix::Layout& layout,
                  const DenseMatrix& b) {
  std::vector<double> x(static_cast<std::size_t>(layout.n_local()), 1e3);
  solver.solve(part_of(layout, b), x);
  return gathered(layout.comm(), x);
}

/// Collective. Expects, on all layouts, solutions of A x = b that satisfy every equation to
/// `tolerance` times the sum of the moduli of its terms.
void expect_solves(const DenseMatrix& A, const DenseMatrix& b, bool singular, double tolerance,
                   const std::string& what) {
  const GlobalIndex n = A.rows();
  for (const GlobalIndex first : {GlobalIndex{0}, (GlobalIndex{1} << 40) + 5}) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), n, first)) {
      const CoarseSolver<double> solver(distribute(A, layout));
      EXPECT_EQ(solver.singular(), singular) << what;
      EXPECT_EQ(solver.memory_bytes(),
                sizeof(double) * static_cast<std::size_t>(n * layout.n_local()));
      const DenseMatrix x = solve(solver, layout, b);
      const DenseMatrix r = b - A * x;
      for (GlobalIndex i = 0; i < n; ++i) {
        double terms = std::abs(b[i]);
        for (GlobalIndex j = 0; j < n; ++j) terms += std::abs(A(i, j) * x[j]);
        EXPECT_LE(std::abs(r[i]), tolerance * terms) << what << ", row " << i;
      }
    }
  }
}

/// Collective. The same for a right-hand side in the range of A.
void expect_solves(const DenseMatrix& A, bool singular, double tolerance, const std::string& what) {
  expect_solves(A, A * hashed(A.rows(), 11), singular, tolerance, what);
}

TEST(CoarseSolver, SolvesTheSystemOfEveryMatrix) {
  for (const auto& [name, values] : test::level_matrices()) {
    expect_solves(values, false, 1e-12, name);
  }
}

TEST(CoarseSolver, SolvesByFactorsAsByTheInverse) {
  if (!solve::has_mumps()) GTEST_SKIP() << "NOT TESTED: there is no MUMPS";
  for (const auto& [name, values] : test::level_matrices()) {
    const GlobalIndex n = values.rows();
    for (const matrix::Layout& layout : layouts_of(test_comm(), n, 7)) {
      const CoarseSolver<double> solver(distribute(values, layout), 2.0, "factors");
      const DenseMatrix b = hashed(n, 11);
      const DenseMatrix expected =
          solve(CoarseSolver<double>(distribute(values, layout), 2.0), layout, b);
      const DenseMatrix x = solve(solver, layout, b);
      EXPECT_LE(norm(x - expected), 1e-9 * norm(expected)) << name;
      EXPECT_TRUE(solver.inverse_rows().empty());
      EXPECT_FALSE(solver.singular());
    }
  }
}

TEST(CoarseSolver, ByFactorsSeesNegativeEigenvaluesAndRefusesSingularMatrices) {
  if (!solve::has_mumps()) GTEST_SKIP() << "NOT TESTED: there is no MUMPS";
  DenseMatrix A(3, 3);
  A(0, 0) = 1, A(1, 1) = -2, A(2, 2) = 3;
  const matrix::Layout layout = matrix::Layout::uniform(test_comm(), 3);
  EXPECT_TRUE(CoarseSolver<double>(distribute(A, layout), 1.0, "factors").indefinite());
  A(1, 1) = 2;
  EXPECT_FALSE(CoarseSolver<double>(distribute(A, layout), 1.0, "factors").indefinite());
  A(1, 1) = 0;
  const std::string text = test::expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix, [&] {
    CoarseSolver<double>(distribute(A, layout), 1.0, "factors");
  });
  EXPECT_NE(text.find("`coarse_solve factors`"), std::string::npos) << text;
}

// A triangular matrix, for which the transposed system has another solution altogether.
TEST(CoarseSolver, DoesNotSolveTheTransposedSystem) {
  constexpr GlobalIndex n = 12;
  DenseMatrix A(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    A(i, i) = 1;
    if (i > 0) A(i, i - 1) = -2;
  }
  DenseMatrix b(n);
  b[0] = 1;
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    const DenseMatrix x = solve(CoarseSolver<double>(distribute(A, layout)), layout, b);
    for (GlobalIndex i = 0; i < n; ++i) {
      const double expected = std::ldexp(1.0, static_cast<int>(i));
      EXPECT_NEAR(x[i], expected, 1e-10 * expected);
    }
  }
}

/// The Laplacian of a chain without boundary values: its null space is the constants.
DenseMatrix neumann(GlobalIndex n) {
  DenseMatrix A(n, n);
  for (GlobalIndex i = 0; i + 1 < n; ++i) {
    A(i, i) += 1;
    A(i + 1, i + 1) += 1;
    A(i, i + 1) = A(i + 1, i) = -1;
  }
  return A;
}

TEST(CoarseSolver, SolvesSingularConsistentSystems) {
  expect_solves(neumann(20), true, 1e-12, "one component");
  DenseMatrix two(24, 24);
  two.put(0, 0, neumann(10));
  two.put(10, 10, neumann(14));
  expect_solves(two, true, 1e-12, "two components");
  DenseMatrix zero_row = test::random_symmetric(10, 0.3, 0.2, 3);
  for (GlobalIndex j = 0; j < 10; ++j) zero_row(4, j) = zero_row(j, 4) = 0;
  expect_solves(zero_row, true, 1e-12, "a row and column of zeros");
  expect_solves(DenseMatrix(5, 5), true, 1e-12, "zero");
}

// What rounding leaves of zeros is known by what was added up.
TEST(CoarseSolver, TakesForZeroWhatIsRoundOffOfItsSummands) {
  DenseMatrix noise(2, 2);
  noise(0, 0) = 3e-16;
  noise(0, 1) = noise(1, 0) = 1e-16;
  noise(1, 1) = -2e-16;
  DenseMatrix mixed = neumann(5);  // a row of noise, and an eigenvalue that noise has shifted
  mixed(2, 2) += 1e-9;
  DenseMatrix whole(6, 6);
  whole.put(0, 0, mixed);
  whole(5, 5) = -1e-13;
  whole(5, 1) = whole(1, 5) = 1e-15;
  for (const auto& [A, size] : {std::pair{noise, 1.0}, std::pair{whole, 1e6}}) {
    const GlobalIndex n = A.rows();
    DenseMatrix b = A * hashed(n, 11);
    if (n == 2) b[0] = b[1] = 1;
    for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
      const std::vector<double> sizes(static_cast<std::size_t>(layout.n_local()), size);
      const CoarseSolver<double> solver(distribute(A, layout), 1, "every_rank", sizes);
      EXPECT_TRUE(solver.singular());
      const DenseMatrix x = solve(solver, layout, b);
      if (n == 2) {
        expect_near(x, DenseMatrix(2), 0, "noise");
        continue;
      }
      EXPECT_EQ(x[5], 0);
      EXPECT_LE(norm(x), 10);  // nothing along the constants, which the noise makes 1e9 times
      EXPECT_LE(norm(A * x - b), 1e-8 * norm(b));
    }
  }
}

TEST(CoarseSolver, SolvesSingularNonsymmetricSystems) {
  DenseMatrix A = test::random_matrix(20, 0.3, 0.0, 8);
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    double sum = 0;
    for (GlobalIndex j = 0; j < A.cols(); ++j) sum += j == i ? 0 : A(i, j);
    A(i, i) = -sum;
  }
  expect_solves(A, true, 1e-11, "row sums of zero");
}

TEST(CoarseSolver, SymmetricMatricesGetSymmetricInverses) {
  for (const bool singular : {false, true}) {
    const DenseMatrix A = singular ? neumann(30) : test::random_symmetric(30, 0.2, 0.1, 2);
    const DenseMatrix u = hashed(30, 1);
    const DenseMatrix v = hashed(30, 2);
    for (const matrix::Layout& layout : layouts_of(test_comm(), 30)) {
      const CoarseSolver<double> solver(distribute(A, layout));
      const DenseMatrix Mu = solve(solver, layout, u);
      EXPECT_NEAR(dot(Mu, v), dot(u, solve(solver, layout, v)), 1e-11 * norm(Mu) * norm(v));
      EXPECT_GE(dot(Mu, u), 0);
    }
  }
}

/// A factor for row i: between 1e-10 and 1e6.
double scale_of(GlobalIndex i) {
  return std::pow(10.0, 16 * hash_uniform(static_cast<std::uint64_t>(i), 77) - 10);
}

TEST(CoarseSolver, BadlyScaledRowsAreNoneTheWorse) {
  for (const bool symmetric : {false, true}) {
    const DenseMatrix A = symmetric ? test::random_symmetric(40, 0.15, 0.1, 3)
                                    : test::random_matrix(40, 0.15, 0.1, 3);
    const DenseMatrix b = A * hashed(40, 11);
    // Powers of the factors of rows and columns.
    for (const auto& [row_power, col_power] :
         {std::pair{1.0, 0.0}, std::pair{0.0, 1.0}, std::pair{0.5, 0.5}, std::pair{0.5, -0.5}}) {
      DenseMatrix scaled = A;
      DenseMatrix scaled_b = b;
      for (GlobalIndex i = 0; i < 40; ++i) {
        scaled_b[i] *= std::pow(scale_of(i), row_power);
        for (GlobalIndex j = 0; j < 40; ++j) {
          scaled(i, j) *= std::pow(scale_of(i), row_power) * std::pow(scale_of(j), col_power);
        }
      }
      expect_solves(scaled, scaled_b, false, 1e-10,
                    "powers " + std::to_string(row_power) + ", " + std::to_string(col_power));
    }
  }
}

// As in reservoir simulations: isolated rows of a tiny diagonal among large ones. Round-off of the
// large right-hand sides may reach the small equations, scaled: 1e-16 sqrt(1e6 / 1e-10).
TEST(CoarseSolver, TinyIsolatedRowsAreNotTakenForZero) {
  DenseMatrix A = test::with_isolated(test::random_matrix(30, 0.2, 0.0, 5),
                                      [](GlobalIndex i) { return i % 4 == 0; });
  for (GlobalIndex i = 0; i < 30; ++i) {
    for (GlobalIndex j = 0; j < 30; ++j) A(i, j) *= i % 4 == 0 ? 1e-10 : 1e6;
  }
  expect_solves(A, false, 1e-7, "isolated rows");
}

TEST(CoarseSolver, OneRowOrNone) {
  DenseMatrix one(1, 1);
  one(0, 0) = -4;
  expect_solves(one, false, 1e-15, "1 x 1");
  one(0, 0) = 0;
  expect_solves(one, true, 0.0, "zero 1 x 1");
  const auto layout = matrix::Layout::uniform(test_comm(), 0);
  const CoarseSolver<double> solver(distribute(DenseMatrix(0, 0), layout));
  EXPECT_FALSE(solver.singular());
  EXPECT_EQ(solve(solver, layout, DenseMatrix(0)).size(), 0U);
}

TEST(CoarseSolver, RefusesEntriesThatAreNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    DenseMatrix A = neumann(9);
    A(7, 6) = bad;
    for (const matrix::Layout& layout : layouts_of(test_comm(), 9)) {
      const auto dist = distribute(A, layout);
      const std::string text =
          test::expect_same_error(layout.comm(), ErrorCode::unsuitable_matrix,
                                  [&] { const CoarseSolver<double> solver(dist); });
      EXPECT_NE(text.find("not finite"), std::string::npos) << text;
    }
  }
}

TEST(CoarseSolver, Float) {
  const DenseMatrix A = test::random_matrix(25, 0.2, 0.1, 4);
  const DenseMatrix x = hashed(25, 1);
  const DenseMatrix b = A * x;
  for (const matrix::Layout& layout : layouts_of(test_comm(), 25)) {
    const CoarseSolver<float> solver(distribute<float>(A, layout));
    const std::vector<double> part = part_of(layout, b);
    const std::vector<float> bf(part.begin(), part.end());
    std::vector<float> xf(bf.size());
    solver.solve(bf, xf);
    test::expect_near(A * gathered(layout.comm(), xf), b, 1e-5, "float");
  }
}

}  // namespace amg_coarse_solver_test
}  // namespace nodewise::amg
