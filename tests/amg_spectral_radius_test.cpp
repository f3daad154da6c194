// The estimated spectral radius against known spectra.
#include <complex>
#include <numbers>

#include <gtest/gtest.h>

#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/matrix/operations.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace {

using test::DenseMatrix;
using test::distribute;
using test::layouts_of;
using test::test_comm;

/// The estimate, which must be the same on every rank.
template <class T>
double estimate(const matrix::DistMatrix<T>& A, const SpectrumOptions& options) {
  const double radius = spectral_radius(A, options);
  EXPECT_EQ(mpi::max(A.comm(), radius), radius);
  EXPECT_EQ(mpi::min(A.comm(), radius), radius);
  return radius;
}

/// D (2 I - N) with N the neighbours of a path: by its diagonal it has the radius 1 + cos(pi / n+1)
/// whatever D is.
DenseMatrix scaled_path(GlobalIndex n, double sign = 1) {
  DenseMatrix A(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    A(i, i) = 2 * sign;
    if (i > 0) A(i, i - 1) = -sign;
    if (i + 1 < n) A(i, i + 1) = -sign;
  }
  return A;
}

double path_radius(GlobalIndex n) {
  return 1 + std::cos(std::numbers::pi / static_cast<double>(n + 1));
}

TEST(SpectralRadius, IsExactWithAsManyStepsAsRows) {
  const GlobalIndex n = 9;
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    for (const double sign : {1.0, -1.0}) {
      const auto A = distribute(scaled_path(n, sign), layout);
      EXPECT_NEAR(estimate(A, {.steps = 9}), path_radius(n), 1e-7) << sign;
      EXPECT_NEAR(estimate(A, {.steps = 9, .symmetric = false}), path_radius(n), 1e-7) << sign;
      EXPECT_NEAR(estimate(A, {.steps = 50}), path_radius(n), 1e-7) << sign;
      EXPECT_NEAR(estimate(A, {.steps = 50, .symmetric = false}), path_radius(n), 1e-7) << sign;
    }
  }
}

TEST(SpectralRadius, DoesNotDependOnTheScaleOfUnknowns) {
  const GlobalIndex n = 9;
  DenseMatrix A = scaled_path(n);
  for (GlobalIndex i = 0; i < n; ++i) {  // S A S, the same spectrum once divided by its diagonal
    for (GlobalIndex j = 0; j < n; ++j) A(i, j) *= std::pow(10.0, double(i % 3 + j % 3));
  }
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    EXPECT_NEAR(estimate(distribute(A, layout), {.steps = 9}), path_radius(n), 1e-7);
  }
}

TEST(SpectralRadius, TakesComplexEigenvaluesOfANonsymmetricMatrix) {
  // D (I - c S), S shifting round a ring of five: eigenvalues 1 - c w, w a fifth root of one.
  const GlobalIndex n = 5;
  const double c = 0.75;
  DenseMatrix A(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    A(i, i) = 1.0 + double(i);
    A(i, (i + 1) % n) = -c * A(i, i);
  }
  const double expected = std::abs(1.0 - std::polar(c, 4 * std::numbers::pi / 5));
  for (const matrix::Layout& layout : layouts_of(test_comm(), n, 1000)) {
    const auto matrix = distribute(A, layout);
    EXPECT_NEAR(estimate(matrix, {.steps = 5, .symmetric = false}), expected, 1e-10);
  }
}

TEST(SpectralRadius, IsNearAndNeverAboveAfterTenSteps) {
  const int n = 24;
  for (const auto problem : {io::Problem::laplace5, io::Problem::laplace27}) {
    const auto A = io::generate<double>(test_comm(), {.problem = problem, .n = n});
    const auto serial = io::generate<double>(test::self_comm(), {.problem = problem, .n = n});
    const double exact = spectral_radius(serial, {.steps = 80});
    for (const int seed : {0, 1, 2}) {
      const double ten = estimate(A, {.steps = 10, .seed = seed});
      EXPECT_LE(ten, exact * (1 + 1e-10));
      EXPECT_GE(ten, 0.9 * exact);
      // The same estimate on any number of ranks.
      EXPECT_NEAR(ten, spectral_radius(serial, {.steps = 10, .seed = seed}), 1e-9);
      const auto single = matrix::convert<float>(A);
      EXPECT_NEAR(estimate(single, {.steps = 10, .seed = seed}), ten, 1e-4);
    }
  }
  const auto A = io::generate<double>(test_comm(), {.problem = io::Problem::laplace5, .n = n});
  EXPECT_NEAR(estimate(A, {.steps = 80}), path_radius(n), 1e-6);
}

TEST(SpectralRadius, LeavesOutRowsWithoutADiagonal) {
  const GlobalIndex n = 6;
  DenseMatrix A(n, n);
  A.put(0, 0, scaled_path(4));
  A(4, 3) = A(3, 4) = 7;  // row 4 has no diagonal, row 5 nothing at all
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    const auto matrix = distribute(A, layout);
    EXPECT_NEAR(estimate(matrix, {}), path_radius(4), 1e-7);
    EXPECT_NEAR(estimate(matrix, {.symmetric = false}), path_radius(4), 1e-7);
  }
}

TEST(SpectralRadius, EndsWhereNothingIsLeft) {
  const DenseMatrix zero(3, 3);
  DenseMatrix diagonal(3, 3);
  for (GlobalIndex i = 0; i < 3; ++i) diagonal(i, i) = 5;
  for (const bool symmetric : {true, false}) {
    const auto empty = distribute(DenseMatrix(0, 0), matrix::Layout::uniform(test_comm(), 0));
    EXPECT_EQ(estimate(empty, {.symmetric = symmetric}), 0);
    const auto layout = matrix::Layout::uniform(test_comm(), 3);
    EXPECT_EQ(estimate(distribute(zero, layout), {.symmetric = symmetric}), 0);
    EXPECT_NEAR(estimate(distribute(diagonal, layout), {.symmetric = symmetric}), 1, 1e-12);
    diagonal(1, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(estimate(distribute(diagonal, layout), {.symmetric = symmetric}), 0);
    diagonal(1, 1) = 5;
  }
}

}  // namespace
}  // namespace nodewise::amg
