// A system scaled by its diagonal: its matrix, its vectors, and the way back.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/solver/diagonal_scaling.hpp"
#include "nodewise/solver/solver.hpp"

#include "collective_error.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solver_diagonal_scaling_test {

using matrix::DistMatrix;
using solver::DiagonalScaling;
using testing::HasSubstr;

/// A Laplacian whose unknowns have units from 1 to 100, some of them negative on the diagonal.
Entry badly_scaled(int n, double sign) {
  return [=, laplace = periodic_laplace(n, 1)](GlobalIndex i, GlobalIndex j) {
    const auto unit = [](GlobalIndex k) { return std::pow(10.0, static_cast<double>(k % 3)); };
    const double value = laplace(i, j) + (i == j ? 1 : 0);
    return (i == j && i % 5 == 0 ? sign : 1) * unit(i) * unit(j) * value;
  };
}

std::shared_ptr<const DistMatrix<double>> matrix_of(const comm::Layout& layout,
                                                    const Entry& entry) {
  return std::make_shared<const DistMatrix<double>>(make_operator<double>(layout, entry).matrix());
}

/// Two right-hand sides, A times the solutions of random numbers.
solver::RightHandSides two_right_hand_sides(const DistMatrix<double>& A,
                                            std::vector<double>& solutions) {
  const std::vector<double> x[] = {hashed_vector(A.rows(), 1), hashed_vector(A.rows(), 2)};
  solver::RightHandSides rhs;
  rhs.count = 2;
  rhs.values.resize(2 * x[0].size());
  solutions.resize(rhs.values.size());
  std::vector<double> b(x[0].size());
  for (std::size_t c = 0; c < 2; ++c) {
    matrix::multiply<double>(A, x[c], b);
    for (std::size_t i = 0; i < b.size(); ++i) {
      solutions[2 * i + c] = x[c][i];
      rhs.values[2 * i + c] = b[i];
    }
  }
  return rhs;
}

TEST(DiagonalScaling, MakesDiagonalsOneAndKeepsSymmetry) {
  const comm::Layout layout = comm::Layout::uniform(test_comm(), 144);
  const auto A = matrix_of(layout, badly_scaled(12, -1));
  std::vector<double> x;
  solver::RightHandSides rhs = two_right_hand_sides(*A, x);
  const DiagonalScaling scaling(A, rhs);
  const Array<double> before = matrix::diagonal(*A);
  const Array<double> after = matrix::diagonal(*scaling.matrix());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i], before[i] < 0 ? -1 : 1, 1e-14);
  }
  EXPECT_TRUE(matrix::is_symmetric(*scaling.matrix()));
}

TEST(DiagonalScaling, HasTheSolutionsOfTheSystem) {
  const comm::Layout layout = comm::Layout::uniform(test_comm(), 144);
  const auto A = matrix_of(layout, badly_scaled(12, 1));
  std::vector<double> x;
  solver::RightHandSides rhs = two_right_hand_sides(*A, x);
  const DiagonalScaling scaling(A, rhs);
  EXPECT_LT(scaling.residual(x), 1e-14);
  EXPECT_NEAR(scaling.residual(std::vector<double>(x.size(), 0.0)), 1, 1e-14);
  const std::vector<double> expected = x;
  scaling.scale(x);
  std::vector<double> y(x.size() / 2), product(y.size());
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[2 * i + c];
    matrix::multiply<double>(*scaling.matrix(), y, product);
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_NEAR(product[i], rhs.values[2 * i + c], 1e-8);
    }
  }
  scaling.scale_back(x);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-14);
}

TEST(DiagonalScaling, ServesASolver) {
  const comm::Layout layout = comm::Layout::uniform(test_comm(), 144);
  const auto A = matrix_of(layout, badly_scaled(12, 1));
  std::vector<double> expected;
  solver::RightHandSides rhs = two_right_hand_sides(*A, expected);
  const DiagonalScaling scaling(A, rhs);
  std::vector<double> x(expected.size(), 0.0);
  solver::Options options;
  options.set("tolerance", "1e-12");
  Solver solver(scaling.matrix(), options);
  EXPECT_TRUE(solver.solve_all(rhs.values, x, rhs.count).converged());
  scaling.scale_back(x);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-7);
}

TEST(DiagonalScaling, RefusesRowsWithoutADiagonal) {
  const comm::Layout layout = comm::Layout::uniform(test_comm(), 30);
  const auto A = matrix_of(layout, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? (i == 7 || i == 20 ? 0.0 : 2.0) : (std::abs(i - j) == 1 ? -1.0 : 0.0);
  });
  solver::RightHandSides rhs = solver::random_right_hand_sides(*A, 0);
  const std::string text = expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                                             [&] { DiagonalScaling(A, rhs); });
  EXPECT_THAT(text, HasSubstr("`scale diagonal`: row 7,"));
}

}  // namespace solver_diagonal_scaling_test
}  // namespace nodewise::test
