// The estimated spectral radius against known spectra.
#include <complex>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/ledger.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace amg_spectral_radius_test {

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

// A single row with a tiny diagonal must not be all that the vectors see.
TEST(SpectralRadius, SeesMoreThanOneTinyRow) {
  const GlobalIndex n = 40;
  DenseMatrix A(n, n);
  A.put(0, 0, scaled_path(n - 1));
  A(n - 1, n - 1) = 1e-10;
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    for (const bool symmetric : {true, false}) {
      const double radius = estimate(distribute(A, layout), {.symmetric = symmetric});
      EXPECT_GE(radius, 0.9 * path_radius(n - 1)) << symmetric;
      EXPECT_LE(radius, path_radius(n - 1)) << symmetric;
    }
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
  for (const std::string problem : {"laplace5", "laplace27"}) {
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
  const auto A = io::generate<double>(test_comm(), {.problem = "laplace5", .n = n});
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

/// That of B^T B by many steps of the power method.
double reference_norm(const DenseMatrix& B) {
  DenseMatrix v = test::hashed(B.cols(), 7);
  double square = 0;
  for (int step = 0; step < 3000; ++step) {
    v = B.transpose() * (B * ((1 / test::norm(v)) * v));
    square = test::norm(v);
  }
  return std::sqrt(square);
}

TEST(SpectralNorm, IsExactWithAsManyStepsAsRows) {
  const GlobalIndex n = 9;
  for (const std::uint64_t seed : {1, 2, 3}) {
    DenseMatrix A = test::random_matrix(n, 0.4, 0.3, seed);
    if (seed == 3) {
      for (GlobalIndex j = 0; j < n; ++j) A(2, j) *= -1;
    }
    DenseMatrix scaled = A;
    for (GlobalIndex i = 0; i < n; ++i) {
      for (GlobalIndex j = 0; j < n; ++j) scaled(i, j) /= std::sqrt(std::abs(A(i, i) * A(j, j)));
    }
    const double exact = reference_norm(scaled);
    for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
      const auto matrix = distribute(A, layout);
      const double found = estimate(matrix, {.steps = 9, .symmetric = false, .norm = true});
      EXPECT_NEAR(found, exact, 1e-4 * exact);
      EXPECT_GT(found, estimate(matrix, {.steps = 9, .symmetric = false}) + 1e-3);
      const double some = estimate(matrix, {.steps = 4, .symmetric = false, .norm = true});
      EXPECT_LE(some, exact * (1 + 1e-12));
      // A singular value is not below an eigenvalue; how far it is below the norm nobody knows.
      EXPECT_GE(some, estimate(matrix, {.steps = 4, .symmetric = false}) * (1 - 1e-12));
    }
  }
}

TEST(SpectralNorm, SeesWhatATriangularMatrixDoes) {
  const GlobalIndex n = 60;
  DenseMatrix A(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    A(i, i) = 3;
    if (i > 0) A(i, i - 1) = -3;  // all eigenvalues of D^-1 A are 1
  }
  const auto matrix = distribute(A, matrix::Layout::uniform(test_comm(), n));
  const double norm = estimate(matrix, {.symmetric = false, .norm = true});
  EXPECT_GT(norm, 1.85);
  EXPECT_LE(norm, 2);
}

TEST(SpectralNorm, IsAskedForWhereARestrictionIsSmoothed) {
  Options options;
  options.method = "aggregation";
  EXPECT_FALSE(spectrum_options(false, options).norm);
  options.set("restriction", "smoothed");
  EXPECT_TRUE(spectrum_options(false, options).norm);
  EXPECT_FALSE(spectrum_options(true, options).norm);
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

/// A with a coefficient for each row, of a coupling the smaller of its two: 1 + amplitude * hashed
/// numbers, ten times that on every second of `period` rows.
matrix::DistMatrix<double> with_other_values(const matrix::DistMatrix<double>& A, double amplitude,
                                             GlobalIndex period) {
  const auto factor = [&](GlobalIndex i) {
    return (1 + amplitude * hash_uniform(static_cast<std::uint64_t>(i), 5)) *
           (period > 0 && i / period % 2 == 1 ? 10.0 : 1.0);
  };
  Array<double> on = A.on().vals, off = A.off().vals;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const GlobalIndex row = A.rows().to_global(i);
    const auto couple = [&](double& value, GlobalIndex column) {
      if (row != column) value *= std::min(factor(row), factor(column));
    };
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      couple(on[p], A.cols().to_global(A.on().cols[p]));
      if (A.on().cols[p] == i) on[p] *= factor(row);
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      couple(off[p], A.ghosts()[static_cast<std::size_t>(A.off().cols[p])]);
    }
  }
  return A.with_values(std::move(on), std::move(off));
}

TEST(SpectralRadiusTracker, IsNearAndNeverAboveForOtherValues) {
  for (const std::string problem : {"laplace5", "laplace27"}) {
    const int n = problem == "laplace5" ? 24 : 9;
    const auto A = io::generate<double>(test_comm(), {.problem = problem, .n = n});
    const SpectralRadiusTracker<double> even(A, {});
    const SpectralRadiusTracker<double> uneven(with_other_values(A, 3.0, 9), {});
    for (const auto& [amplitude, period] :
         {std::pair(0.0, 0), std::pair(0.1, 0), std::pair(0.0, 40), std::pair(3.0, 9)}) {
      const auto B = with_other_values(A, amplitude, period);
      const double exact = spectral_radius(B, {.steps = 25, .symmetric = false});
      for (const SpectralRadiusTracker<double>& tracker : {std::cref(even), std::cref(uneven)}) {
        const double found = tracker.estimate(B);
        EXPECT_LE(found, exact * (1 + 1e-10)) << amplitude << " " << period;
        EXPECT_GE(found, 0.93 * exact) << amplitude << " " << period;
        EXPECT_EQ(tracker.estimate(B), found);
      }
    }
  }
}

TEST(SpectralRadiusTracker, RemembersToTheLastBit) {
  const DenseMatrix first = test::random_symmetric(40, 0.1, 0.2, 4);
  const DenseMatrix second = test::random_symmetric(40, 0.1, 0.2, 4) + scaled_path(40);
  for (const matrix::Layout& layout : layouts_of(test_comm(), 40)) {
    const auto A = distribute(first, layout);
    const auto B = distribute(second, layout);
    SpectralRadiusTracker<double> tracker(A, {});
    EXPECT_EQ(tracker.radius(), spectral_radius(A));
    EXPECT_EQ(tracker.estimate(A), tracker.radius());
    const double found = tracker.estimate(B);
    EXPECT_EQ(mpi::max(A.comm(), found), mpi::min(A.comm(), found));
    tracker.remember(B, 1234);
    EXPECT_EQ(tracker.estimate(B), 1234);
    EXPECT_EQ(tracker.estimate(A), tracker.radius());
  }
  const auto empty = distribute(DenseMatrix(0, 0), matrix::Layout::uniform(test_comm(), 0));
  EXPECT_EQ(SpectralRadiusTracker<double>(empty, {}).estimate(empty), 0);
}

// Ten products for other values would be no gain.
TEST(SpectralRadiusTracker, TakesFewerProducts) {
  mpi::CommSettings settings;
  settings.allreduce = "mpi";
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, settings);
  const auto A = io::generate<double>(comm, {.problem = "laplace5", .n = 24});
  const auto B = with_other_values(A, 0.02, 0);
  const SpectralRadiusTracker<double> tracker(A, {});
  const auto reductions = [&](const auto& run) {
    comm->ledger().clear();
    run();
    std::int64_t sum = 0;
    for (const mpi::Account& account : comm->ledger().accounts()) sum += account.counts.collectives;
    return sum;
  };
  const std::int64_t anew = reductions([&] { spectral_radius(B); });
  EXPECT_LE(reductions([&] { tracker.estimate(B); }), anew - 4);
}

}  // namespace amg_spectral_radius_test
}  // namespace nodewise::amg
