// Cycles in single precision under a setup and a Krylov method in double.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/solve/asymmetry.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_precision_test {

using Matrix = std::shared_ptr<const matrix::DistMatrix<double>>;

constexpr const char* problems[] = {"laplace5", "laplace27", "rotated_fe"};

Matrix generated(const std::string& problem, int n) {
  return std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test::test_comm(), {.problem = problem, .n = n}));
}

Matrix scaled(const Matrix& A, double factor) {
  return std::make_shared<const matrix::DistMatrix<double>>(A->with_type<double>(factor));
}

Options in(Precision precision) {
  Options options;
  options.max_coarse_rows = 20;
  options.precision = precision;
  return options;
}

std::vector<double> apply(const Hierarchy<double>& M, double factor) {
  std::vector<double> b = test::part_of(M.layout(), test::hashed(M.layout().n_global(), 3));
  for (double& v : b) v *= factor;
  std::vector<double> x(b.size(), 1e3);
  M.apply(b, x);
  return x;
}

TEST(SinglePrecision, CycleIsTheOneInDoubleButForRounding) {
  for (const std::string problem : problems) {
    const Matrix A = generated(problem, 9);
    for (const std::string kind : {"v", "w", "k", "additive"}) {
      Options options = in(Precision::same);
      options.cycle = kind;
      const Hierarchy<double> full(A, options);
      options.precision = Precision::single;
      const Hierarchy<double> single(A, options);
      const auto& comm = A->comm();
      const auto got = test::gathered(comm, apply(single, 1));
      const auto expected = test::gathered(comm, apply(full, 1));
      test::expect_near(got, expected, 1e-5, "cycle");
      double difference = 0;
      for (GlobalIndex i = 0; i < got.rows(); ++i) difference += std::abs(got[i] - expected[i]);
      EXPECT_GT(difference, 0);  // or it would not be single precision
    }
    EXPECT_LT(solve::asymmetry(Hierarchy<double>(A, in(Precision::single))), 1e-5);
  }
}

// The scales are far outside of what float can hold; powers of two, so that nothing else changes.
TEST(SinglePrecision, ScaleOfMatrixAndVectorDoNotMatter) {
  const Matrix A = generated("rotated_fe", 9);
  const Hierarchy<double> M(A, in(Precision::single));
  const std::vector<double> x = apply(M, 1);
  for (const int e : {-400, -130, 0, 130, 400}) {
    const double factor = std::ldexp(1.0, e);
    const std::vector<double> from_large_b = apply(M, factor);
    const Hierarchy<double> of_large(scaled(A, factor), in(Precision::single));
    const std::vector<double> from_large_A = apply(of_large, factor);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(from_large_b[i], factor * x[i]) << e;
      EXPECT_EQ(from_large_A[i], x[i]) << e;
    }
  }
  const std::vector<double> zero = apply(M, 0);
  EXPECT_EQ(std::count(zero.begin(), zero.end(), 0.0), static_cast<std::ptrdiff_t>(zero.size()));
}

TEST(SinglePrecision, CostsAtMostOneIteration) {
  for (const std::string problem : problems) {
    const Matrix A = generated(problem, problem == "laplace27" ? 12 : 40);
    const solve::MatrixOperator<double> product(A);
    const std::vector<double> b = test::part_of(A->rows(), test::hashed(A->rows().n_global(), 5));
    int iterations[2] = {};
    for (const Precision precision : {Precision::same, Precision::single}) {
      const Hierarchy<double> M(A, in(precision));
      std::vector<double> x(b.size());
      solve::Options options;
      options.tolerance = 1e-10;
      const solve::Report report = solve::cg<double>(product, &M, b, x, options);
      EXPECT_TRUE(report.converged());
      EXPECT_LE(report.true_relative_residual, 1e-10);
      iterations[static_cast<int>(precision)] = report.iterations;
    }
    EXPECT_LE(std::abs(iterations[0] - iterations[1]), 1);
  }
}

// Rounded to float, the coarsest matrix would be regular and its inverse huge.
TEST(SinglePrecision, SingularMatricesAreRecognised) {
  const matrix::Layout layout = matrix::Layout::uniform(test::test_comm(), 90);
  const Matrix A = std::make_shared<const matrix::DistMatrix<double>>(
      matrix::matrix_from_rows<double>(layout, layout, [](GlobalIndex i, auto&& emit) {
        const double h = 1.0 / 3.0;
        emit(i, i == 0 || i == 89 ? h : 2 * h);
        if (i > 0) emit(i - 1, -h);
        if (i < 89) emit(i + 1, -h);
      }));
  EXPECT_EQ(Hierarchy<double>(A, in(Precision::single)).levels().back().coarse_solver,
            "direct, singular");
}

TEST(SinglePrecision, RebuildIsWhatASetupWouldBe) {
  const Matrix A = generated("rotated_fe", 12);
  const Matrix B = scaled(A, 3);
  Hierarchy<double> M(A, in(Precision::single));
  M.rebuild(B);
  const std::vector<double> x = apply(M, 1);
  const std::vector<double> expected = apply(Hierarchy<double>(B, in(Precision::single)), 1);
  test::expect_near(test::gathered(A->comm(), x), test::gathered(A->comm(), expected), 1e-5,
                    "rebuilt");
}

/// Gauss-Seidel, whose last sweep saves a product, and others.
std::vector<Options> smoothed_in_single() {
  std::vector<Options> all;
  for (const std::string kind : {"l1_gauss_seidel", "chebyshev", "l1_jacobi"}) {
    all.push_back(in(Precision::single));
    all.back().smoother = kind;
  }
  return all;
}

TEST(SinglePrecision, LeavesTheFinestLevelInDoubleWhereThatSavesAProduct) {
  const Matrix A = generated("laplace27", 8);
  const solve::MatrixOperator<double> product(A);
  const std::vector<double> b = test::part_of(A->rows(), test::hashed(A->rows().n_global(), 7));
  for (const Options& options : smoothed_in_single()) {
    const Hierarchy<double> M(A, options);
    const bool saves = options.smoother == "l1_gauss_seidel";
    ASSERT_GT(M.levels().size(), 1U);
    EXPECT_EQ(M.saves_product_with(product), saves);
    for (std::size_t l = 0; l < M.levels().size(); ++l) {
      EXPECT_EQ(M.levels()[l].is_single_precision, l > 0 || !saves) << l;
    }
    std::vector<double> x(b.size()), y(b.size()), expected(b.size());
    M.apply_with_product(product, b, x, y);
    product.apply(x, expected);
    test::expect_near(test::gathered(A->comm(), y), test::gathered(A->comm(), expected), 1e-13,
                      "product");
  }
  for (const Precision precision : {Precision::same, Precision::single}) {
    Options direct = in(precision);
    direct.max_coarse_rows = 600;
    const Hierarchy<double> M(A, direct);
    ASSERT_EQ(M.levels().size(), 1U);
    EXPECT_FALSE(M.levels()[0].is_single_precision);
  }
}

// In double they are gone, where nobody needs their values.
TEST(SinglePrecision, CoarseMatricesAreThoseOfTheSetupButForRounding) {
  const Matrix A = scaled(generated("rotated_fe", 20), std::ldexp(1.0, 300));
  for (const Options& options : smoothed_in_single()) {
    const Hierarchy<double> single(A, options);
    Options same = options;
    same.precision = Precision::same;
    const Hierarchy<double> full(A, same);
    ASSERT_EQ(single.levels().size(), full.levels().size());
    for (std::size_t l = 0; l < full.levels().size(); ++l) {
      const auto rounded = single.matrix(l), exact = full.matrix(l);
      EXPECT_EQ(rounded->on().cols, exact->on().cols);
      EXPECT_EQ(rounded->off().cols, exact->off().cols);
      ASSERT_EQ(rounded->on().vals.size(), exact->on().vals.size());
      for (std::size_t k = 0; k < exact->on().vals.size(); ++k) {
        const double value = exact->on().vals[k];
        EXPECT_NEAR(rounded->on().vals[k], value, l == 0 ? 0 : std::ldexp(std::abs(value), -24));
      }
    }
    if (options.smoother == "l1_gauss_seidel" && A->n_local() > 0) {
      EXPECT_LT(single.memory_bytes(), full.memory_bytes());
    }
  }
}

// Rounded or not, coarse matrices are computed from the finest: nothing of the rounded ones is
// left.
TEST(SinglePrecision, RebuiltMatricesAreExact) {
  const Matrix A = generated("rotated_fe", 16);
  const Matrix B = scaled(A, 3);
  for (const Options& options : smoothed_in_single()) {
    Options same = options;
    same.precision = Precision::same;
    for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
      Hierarchy<double> single(A, options);
      Hierarchy<double> full(A, same);
      const std::vector<double> before = apply(single, 1);
      for (const Matrix& values : {B, A}) {
        single.rebuild(values, reuse);
        full.rebuild(values, reuse);
        if (reuse == Reuse::splitting) continue;  // that gives them up again
        for (std::size_t l = 0; l < full.levels().size(); ++l) {
          EXPECT_EQ(single.matrix(l)->on().vals, full.matrix(l)->on().vals) << l;
        }
      }
      EXPECT_EQ(apply(single, 1), before);
    }
  }
}

/// Tridiagonal with the given diagonal and -1 beside it.
Matrix tridiagonal(GlobalIndex n, double diagonal) {
  const matrix::Layout layout = matrix::Layout::uniform(test::test_comm(), n);
  return std::make_shared<const matrix::DistMatrix<double>>(
      matrix::matrix_from_rows<double>(layout, layout, [=](GlobalIndex i, auto&& emit) {
        emit(i, diagonal);
        if (i > 0) emit(i - 1, -1.0);
        if (i + 1 < n) emit(i + 1, -1.0);
      }));
}

double condition_of(const Matrix& A) {
  const Hierarchy<double> M(A, in(Precision::same));
  std::vector<const matrix::DistMatrix<double>*> prolongations;
  for (std::size_t l = 0; M.interpolation(l) != nullptr; ++l) {
    prolongations.push_back(M.interpolation(l));
  }
  return estimated_condition<double>(*A, prolongations, M.matrix(prolongations.size()).get());
}

// The eigenvalues of the matrix divided by its diagonal d are 1 - 2 cos(pi k / (n + 1)) / d.
TEST(AutomaticPrecision, ConditionIsEstimated) {
  const GlobalIndex n = 200;
  for (const double d : {2.0, 2.001, 2.1, 3.0}) {
    const double least = 1 - 2 * std::cos(std::acos(-1.0) / (n + 1)) / d;
    const double exact = (1 + 2 / d) / least;
    const double estimate = condition_of(tridiagonal(n, d));
    EXPECT_GT(estimate, 0.5 * exact) << d;
    EXPECT_LT(estimate, 1.01 * exact) << d;
    EXPECT_NEAR(condition_of(scaled(tridiagonal(n, d), 1e-150)), estimate, 1e-6 * estimate);
  }
  EXPECT_TRUE(std::isinf(condition_of(tridiagonal(n, -1))));  // indefinite
}

TEST(AutomaticPrecision, IsDoubleWhereRowsAreOfVeryDifferentSizes) {
  const matrix::Layout layout = matrix::Layout::uniform(test::test_comm(), 90);
  for (const double small : {1e-10, 1e-30}) {
    const Matrix A = std::make_shared<const matrix::DistMatrix<double>>(
        matrix::matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, auto&& emit) {
          const double size = i < 45 ? small : 1;
          emit(i, 2 * size);
          if (i > 0 && i != 45) emit(i - 1, -size);
          if (i + 1 < 90 && i != 44) emit(i + 1, -size);
        }));
    EXPECT_EQ(Hierarchy<double>(A, in(Precision::automatic)).precision().single, small > 1e-20);
  }
}

TEST(AutomaticPrecision, IsSingleWhereRoundingIsHarmless) {
  EXPECT_TRUE(choose_precision(1e6).single);
  EXPECT_THAT(choose_precision(1e6).reason, testing::HasSubstr("by up to 6 %"));
  EXPECT_FALSE(choose_precision(1e7).single);
  EXPECT_THAT(choose_precision(1e8).reason, testing::HasSubstr("by up to 6 times"));
  EXPECT_FALSE(choose_precision(std::numeric_limits<double>::infinity()).single);
  EXPECT_TRUE(Hierarchy<double>(tridiagonal(200, 2), in(Precision::automatic)).precision().single);
  EXPECT_FALSE(Hierarchy<double>(tridiagonal(200, 2), in(Precision::same)).precision().single);
  // Hardly above singular.
  const Hierarchy<double> near(tridiagonal(90, 2 * std::cos(std::acos(-1.0) / 91) * (1 + 1e-9)),
                               in(Precision::automatic));
  EXPECT_FALSE(near.precision().single);
  EXPECT_FALSE(near.precision().reason.empty());
  const Matrix flow = generated("convection2d", 12);
  EXPECT_EQ(Hierarchy<double>(flow, in(Precision::automatic)).precision().reason,
            "the matrix is not symmetric");
  // Nothing else asks whether it is.
  Options given = in(Precision::automatic);
  set_order(given, SweepOrder::forward_backward);
  given.set("strength_measure", "absolute");
  EXPECT_FALSE(Hierarchy<double>(flow, given).precision().single);
}

TEST(AutomaticPrecision, RebuildKeepsWhatWasFound) {
  const Matrix A = generated("rotated_fe", 12);
  Hierarchy<double> M(A, in(Precision::automatic));
  ASSERT_TRUE(M.precision().single);
  M.rebuild(A);
  const Hierarchy<double> single(A, in(Precision::single));
  EXPECT_EQ(apply(M, 1), apply(single, 1));
}

}  // namespace amg_precision_test
}  // namespace nodewise::amg
