// The l1 forms of relaxations do not depend on the units of equations and unknowns.
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/relax/row_scales.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "aggregate_support.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_row_scales_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::DenseMatrix;
using test::distribute;
using test::dot;
using test::expect_near;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::layouts_of_points;
using test::part_of;
using test::test_comm;

constexpr std::array l1_kinds = {"l1_gauss_seidel", "l1_jacobi", "l1_block_gauss_seidel",
                                 "l1_block_jacobi"};

template <class T>
relax::RowScales scales_of(const DistMatrix<T>& A) {
  const DistMatrix<T>* const one = &A;
  return std::move(relax::row_scales<T>(A.comm(), std::span(&one, 1)).front());
}

/// Powers of two, by which numbers are multiplied without rounding.
DenseMatrix units(GlobalIndex n, int largest_exponent) {
  DenseMatrix d = hashed(n, 11);
  for (GlobalIndex i = 0; i < n; ++i) d[i] = std::exp2(std::round(largest_exponent * d[i]));
  return d;
}

DenseMatrix in_units(const DenseMatrix& A, const DenseMatrix& d) {
  DenseMatrix scaled = A;
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) scaled(i, j) *= A.cols() == 1 ? d[i] : d[i] * d[j];
  }
  return scaled;
}

template <class T>
std::vector<T> part(const Layout& layout, const DenseMatrix& whole) {
  const std::vector<double> mine = part_of(layout, whole);
  return {mine.begin(), mine.end()};
}

/// Collective. What a sweep before and one after the coarse correction make of zero.
template <class T>
std::array<DenseMatrix, 2> swept(const DistMatrix<T>& A, const Options& options,
                                 const relax::RowScales* scales, const DenseMatrix& b) {
  std::vector<LocalIndex> coarse;
  for (LocalIndex i = 0; i < A.n_local(); i += 3) coarse.push_back(i);
  const Smoother<T> smoother(A, options, {.coarse_rows = coarse, .scales = scales});
  const std::vector<T> rhs = part<T>(A.rows(), b);
  std::vector<T> x(rhs.size()), r(rhs.size()), y(rhs.size());
  smoother.presmooth(rhs, x, r);
  smoother.postsmooth(rhs, y);
  return {gathered(A.comm(), x), gathered(A.comm(), y)};
}

TEST(RowScales, AreTheRootsOfTheDiagonal) {
  DenseMatrix values = test::random_matrix(23, 0.3, 0.2, 5);
  values(4, 4) = 0;
  values(9, 9) *= -1;
  for (const Layout& layout : layouts_of(test_comm(), 23, 7)) {
    const auto A = distribute(values, layout);
    const std::array<const DistMatrix<double>*, 3> matrices = {nullptr, &A, nullptr};
    const auto scales = relax::row_scales<double>(A.comm(), matrices);
    ASSERT_EQ(scales.size(), 3u);
    EXPECT_TRUE(scales[0].own.empty() && scales[2].own.empty());
    const auto expected = [&](GlobalIndex row) {
      return std::sqrt(std::abs(values(row - layout.first(), row - layout.first())));
    };
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      EXPECT_EQ(scales[1].own[static_cast<std::size_t>(i)], expected(layout.to_global(i)));
    }
    ASSERT_EQ(std::ssize(scales[1].ghosts), A.n_ghosts());
    for (std::size_t g = 0; g < A.ghosts().size(); ++g) {
      EXPECT_EQ(scales[1].ghosts[g], expected(A.ghosts()[g]));
    }
  }
}

TEST(RowScales, TellWhichRelaxationsNeedThem) {
  const bool is_alone = test_comm()->size() == 1;
  using relax::needs_row_scales;
  EXPECT_TRUE(needs_row_scales(relax::SmootherMethod::family().find("l1_jacobi"), *test_comm()));
  EXPECT_TRUE(
      needs_row_scales(relax::SmootherMethod::family().find("l1_block_jacobi"), *test_comm()));
  EXPECT_EQ(needs_row_scales(relax::SmootherMethod::family().find("l1_gauss_seidel"), *test_comm()),
            !is_alone);
  EXPECT_EQ(
      needs_row_scales(relax::SmootherMethod::family().find("l1_block_gauss_seidel"), *test_comm()),
      !is_alone);
  for (const std::string kind : {"gauss_seidel", "jacobi", "chebyshev", "ilu0"}) {
    EXPECT_FALSE(needs_row_scales(relax::SmootherMethod::family().find(kind), *test_comm()));
  }
}

/// Expects sweeps for D A D and D b to be D^-1 times those for A and b.
template <class T>
void expect_no_units(const DenseMatrix& values, const Layout& layout, int block, int exponent,
                     double tolerance) {
  const DenseMatrix d = units(values.rows(), exponent);
  const DenseMatrix b = hashed(values.rows(), 1);
  auto A = distribute<T>(values, layout), scaled = distribute<T>(in_units(values, d), layout);
  if (block > 1) {
    A = A.with_blocks(block);
    scaled = scaled.with_blocks(block);
  }
  const relax::RowScales of_A = scales_of(A), of_scaled = scales_of(scaled);
  for (const std::string kind : l1_kinds) {
    for (const SweepOrder order : {SweepOrder::forward_backward, SweepOrder::coarse_fine}) {
      for (const double weight : {1.0, 1.4}) {
        SCOPED_TRACE(testing::Message() << kind << ", weight " << weight);
        Options options;
        options.smoother = kind;
        set_order(options, order);
        set_sor_weight(options, weight);
        const auto expected = swept(A, options, &of_A, b);
        const auto got = swept(scaled, options, &of_scaled, in_units(b, d));
        for (std::size_t k = 0; k < 2; ++k) {
          expect_near(in_units(got[k], d), expected[k], tolerance, "x");
        }
      }
    }
  }
}

TEST(RowScales, MakeSweepsIndependentOfUnits) {
  const DenseMatrix values = test::random_symmetric(36, 0.3, 0.2, 3);
  for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
    expect_no_units<double>(values, layout, 1, 40, 1e-12);
    expect_no_units<float>(values, layout, 1, 12, 1e-5);
  }
  for (const Layout& layout : layouts_of_points(12, 3)) {
    expect_no_units<double>(values, layout, 3, 40, 1e-12);
    expect_no_units<float>(values, layout, 3, 12, 1e-5);
  }
}

TEST(RowScales, ChangeNothingWhereTheDiagonalIsConstant) {
  DenseMatrix values = test::random_symmetric(36, 0.3, 0.2, 3);
  for (GlobalIndex i = 0; i < values.rows(); ++i) values(i, i) = 9;
  const DenseMatrix b = hashed(values.rows(), 1);
  for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const relax::RowScales scales = scales_of(A);
    for (const std::string kind : l1_kinds) {
      Options options;
      options.smoother = kind;
      set_order(options, SweepOrder::forward_backward);
      const auto with = swept(A, options, &scales, b), without = swept(A, options, nullptr, b);
      for (std::size_t k = 0; k < 2; ++k) expect_near(with[k], without[k], 0, "x");
    }
  }
}

// With nearly one rank for every row nothing but the l1 terms keeps sweeps from growing.
TEST(RowScales, L1FormsConvergeForStronglyCoupledRowsOfAnySize) {
  constexpr GlobalIndex n = 24;
  DenseMatrix values(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) values(i, j) = i == j ? 1.0 : 0.9;
  }
  values = in_units(values, units(n, 8));
  const auto energy = [&](const DenseMatrix& x) { return dot(x, values * x); };
  for (const Layout& layout : layouts_of_points(8, 3)) {
    const auto rows = distribute(values, layout), blocks = rows.with_blocks(3);
    const relax::RowScales scales = scales_of(rows);
    for (const auto* A : {&rows, &blocks}) {
      for (const std::string kind : l1_kinds) {
        for (const double weight : {1.0, 0.5, 1.5, 1.95}) {  // of Gauss-Seidel, as SOR has it
          Options options;
          options.smoother = kind;
          set_sor_weight(options, weight);
          const auto relaxation = relax::make_relaxation(*A, options.smoother, {.scales = &scales});
          const std::vector<double> zero(static_cast<std::size_t>(layout.n_local()));
          std::vector<double> x = part_of(layout, hashed(n, 3));
          double before = energy(gathered(layout.comm(), x));
          for (int k = 0; k < 5; ++k) {
            relaxation->sweep(relax::Direction::forward, zero, x);
            const double after = energy(gathered(layout.comm(), x));
            EXPECT_LT(after, before) << "sweep " << k << ", weight " << weight;
            before = after;
          }
        }
      }
    }
  }
}

// A coupling larger than a positive definite matrix can have: the diagonal is no measure of size.
TEST(RowScales, CountCouplingsThatOutweighTheDiagonalsPlainly) {
  DenseMatrix values(2, 2);
  values(0, 0) = 1e-10;
  values(0, 1) = values(1, 0) = 2;
  values(1, 1) = 1;
  DenseMatrix b(2), expected(2);
  b[0] = b[1] = 1;
  expected[0] = 1 / (1e-10 + 2);
  expected[1] = 1.0 / 3;
  for (const Layout& layout : layouts_of(test_comm(), 2)) {
    const auto A = distribute(values, layout);
    const relax::RowScales scales = scales_of(A);
    Options options;
    options.smoother = "l1_jacobi";
    expect_near(swept(A, options, &scales, b)[0], expected, 1e-15, "x");
  }
}

/// Collective. Iterations of conjugate gradients for a badly scaled Laplacian.
int iterations(const std::shared_ptr<const mpi::Comm>& comm, const DenseMatrix& values,
               const std::string& smoother) {
  const auto A = std::make_shared<const DistMatrix<double>>(
      distribute(values, Layout::uniform(comm, values.rows())));
  Options options;
  options.smoother = smoother;
  options.max_coarse_rows = 10;
  const Hierarchy<double> hierarchy(A, options);
  std::vector<double> b = part_of(A->rows(), hashed(values.rows(), 4)), x(b.size());
  const solve::MatrixOperator<double> product(A);
  return solve::cg<double>(product, &hierarchy, b, x, {.max_iterations = 400}).iterations;
}

TEST(RowScales, KeepTheIterationsOfBadlyScaledMatricesOnManyRanks) {
  const DenseMatrix laplacian =
      gathered(io::generate<double>(test_comm(), {.problem = "laplace5", .n = 20}));
  DenseMatrix d = hashed(laplacian.rows(), 11);
  for (GlobalIndex i = 0; i < d.rows(); ++i) d[i] = std::pow(10, 2 * d[i]);
  const DenseMatrix values = in_units(laplacian, d);
  const int hybrid = iterations(test_comm(), values, "gauss_seidel");
  EXPECT_LE(iterations(test_comm(), values, "l1_gauss_seidel"), hybrid + hybrid / 4);
  EXPECT_LE(iterations(test_comm(), values, "l1_jacobi"), 3 * hybrid);
}

}  // namespace amg_row_scales_test
}  // namespace nodewise::amg
