// Hierarchies by local approximate ideal restriction.
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/restriction/coarse_filter.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "problem_support.hpp"

namespace nodewise::amg {
namespace amg_air_test {

using matrix::DistMatrix;
using test::DenseMatrix;
using test::distribute;
using test::expect_near;
using test::Flow;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::part_of;
using test::test_comm;

using Matrix = std::shared_ptr<const DistMatrix<double>>;

Matrix shared(DistMatrix<double> A) {
  return std::make_shared<const DistMatrix<double>>(std::move(A));
}

Options air_options() {
  Options options;
  options.method = "air";
  options.set("coarsening", "pmis");  // the same on any number of ranks
  options.max_coarse_rows = 6;
  return options;
}

io::GalleryOptions flow_problem(int n, Flow flow, double diffusion) {
  return test::flow_problem("convection2d", n, {.diffusion = diffusion, .flow = flow});
}

DenseMatrix apply(const Hierarchy<double>& hierarchy, const DenseMatrix& b) {
  const std::vector<double> mine = part_of(hierarchy.layout(), b);
  std::vector<double> x(mine.size(), 1e3);
  hierarchy.apply(mine, x);
  return gathered(hierarchy.layout().comm(), x);
}

TEST(Air, LevelsAreThoseOfOneRank) {
  const DenseMatrix values =
      gathered(io::generate<double>(test::self_comm(), flow_problem(12, Flow::rotating, 1e-3)));
  const Hierarchy<double> serial(shared(test::serial(values)), air_options());
  ASSERT_GE(serial.levels().size(), 3U);
  const DenseMatrix b = hashed(values.rows(), 1);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const Hierarchy<double> hierarchy(shared(distribute(values, layout)), air_options());
    ASSERT_EQ(hierarchy.levels().size(), serial.levels().size());
    for (std::size_t l = 0; l < serial.levels().size(); ++l) {
      expect_near(gathered(*hierarchy.matrix(l)), gathered(*serial.matrix(l)), 1e-12, "A");
      ASSERT_EQ(hierarchy.restriction(l) == nullptr, serial.restriction(l) == nullptr);
      if (serial.restriction(l) == nullptr) continue;
      expect_near(gathered(*hierarchy.restriction(l)), gathered(*serial.restriction(l)), 1e-11,
                  "R");
      EXPECT_EQ(gathered(*hierarchy.interpolation(l)), gathered(*serial.interpolation(l)));
    }
    expect_near(apply(hierarchy, b), apply(serial, b), 1e-11, "cycle");
  }
}

/// With every fine point in every neighbourhood R A is zero at the fine points: the coarse points
/// of the next level's solution are exact, and sweeps over the fine points do the rest.
TEST(Air, IdealRestrictionAndFineSweepsSolveInOneCycle) {
  for (const char* formula : {"automatic", "extended_i"}) {
    DenseMatrix values = test::random_matrix(30, 1.0, 0.2, 3);  // without a zero
    for (GlobalIndex i = 0; i < values.rows(); ++i) values(i, i) *= 2;
    const DenseMatrix b = hashed(values.rows(), 2);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      Options options = air_options();
      options.set("interpolation", formula);
      options.set("strength_threshold", 0.8);
      options.set("max_row_sum", 1);
      options.set("restriction_threshold", 0);
      options.set("restriction_distance", 1);
      options.max_levels = 2;
      // Each sweep at least halves the error.
      options.set("smoother", "fc_jacobi").set("fine_sweeps", 60).set("coarse_sweeps", 0);
      const Hierarchy<double> hierarchy(shared(distribute(values, layout)), options);
      ASSERT_EQ(hierarchy.levels().size(), 2U);
      ASSERT_GT(hierarchy.levels()[1].rows, 1);
      expect_near(values * apply(hierarchy, b), b, 1e-12, "A x = b");
      options.set("restriction_threshold", 0.7);  // one that is not ideal does not
      const Hierarchy<double> other(shared(distribute(values, layout)), options);
      EXPECT_GT(test::norm(values * apply(other, b) - b), 1e-4);
    }
  }
}

int gmres_iterations(const io::GalleryOptions& problem, const Options& options) {
  const Matrix A = shared(io::generate<double>(test_comm(), problem));
  const Hierarchy<double> M(A, options);
  const std::vector<double> b = part_of(A->rows(), hashed(A->rows().n_global(), 4));
  std::vector<double> x(b.size());
  const solve::Report report = solve::gmres<double>(solve::MatrixOperator<double>(A), &M, b, x, {});
  EXPECT_TRUE(report.converged());
  return report.iterations;
}

TEST(Air, IterationsHardlyGrow) {
  for (const Flow flow : {Flow::constant, Flow::rotating, Flow::recirculating}) {
    const int coarse = gmres_iterations(flow_problem(12, flow, 1e-5), air_options());
    const int fine = gmres_iterations(flow_problem(48, flow, 1e-5), air_options());
    EXPECT_LE(fine, 14);
    EXPECT_LE(fine, coarse + 8);
  }
  // Where diffusion rules, interpolation from one point is not enough.
  Options options = air_options();
  options.set("interpolation", "extended_i");
  EXPECT_LT(gmres_iterations(flow_problem(40, Flow::rotating, 1), options),
            gmres_iterations(flow_problem(40, Flow::rotating, 1), air_options()));
}

TEST(Air, ConvergesByItselfAndUnderEveryMethodForNonsymmetricMatrices) {
  const Matrix A =
      shared(io::generate<double>(test_comm(), flow_problem(24, Flow::rotating, 1e-4)));
  const Hierarchy<double> M(A, air_options());
  const solve::MatrixOperator<double> product(A);
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  for (const char* solver : {"stationary", "bicgstab", "fgmres"}) {
    std::vector<double> x(b.size());
    const solve::Report report = solve::solve_by<double>(solver, product, &M, b, x, {});
    EXPECT_TRUE(report.converged());
    EXPECT_LE(report.iterations, 30);
  }
}

TEST(Air, IsNoSymmetricOperator) {
  Options options;
  EXPECT_EQ(asymmetry_of(options), "");
  options.method = "air";
  EXPECT_EQ(asymmetry_of(options), "method air");
}

TEST(Air, UnknownsAndSinglePrecision) {
  const Matrix A =
      shared(io::generate<double>(test_comm(), flow_problem(20, Flow::constant, 1e-3)));
  for (const int unknowns : {1, 2}) {
    Options options = air_options();
    options.unknowns = unknowns;
    options.precision = Precision::single;
    const Hierarchy<double> M(A, options);
    const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
    std::vector<double> x(b.size());
    EXPECT_TRUE(solve::gmres<double>(solve::MatrixOperator<double>(A), &M, b, x, {}).converged());
  }
}

void expect_same_bits(const DistMatrix<double>& A, const DistMatrix<double>& B) {
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
  };
  EXPECT_EQ(A.on().cols, B.on().cols);
  EXPECT_EQ(A.off().cols, B.off().cols);
  EXPECT_TRUE(same(A.on().vals, B.on().vals));
  EXPECT_TRUE(same(A.off().vals, B.off().vals));
}

TEST(Air, RebuildKeepsTheRestrictions) {
  const Matrix A =
      shared(io::generate<double>(test_comm(), flow_problem(14, Flow::rotating, 1e-3)));
  Array<double> on = A->on().vals, off = A->off().vals;
  for (std::size_t k = 0; k < on.size(); ++k) on[k] *= 1 + 0.1 * hash_uniform(k, 1);
  for (double& value : off) value *= 0.9;
  const Matrix B = shared(A->with_values(std::move(on), std::move(off)));
  for (const double filter : {0.0, 0.01}) {
    Options options = air_options();
    options.set("coarse_filter", filter);
    const Hierarchy<double> fresh(A, options);
    Hierarchy<double> hierarchy(A, options);
    for (int step = 0; step < 2; ++step) {
      hierarchy.rebuild(B);
      for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
        expect_same_bits(*hierarchy.restriction(l), *fresh.restriction(l));
        const auto product =
            matrix::multiply(*hierarchy.restriction(l),
                             matrix::multiply(*hierarchy.matrix(l), *hierarchy.interpolation(l)));
        const auto& coarse = *hierarchy.matrix(l + 1);
        expect_same_bits(coarse,
                         filter == 0 ? product : restriction::filtered_alike(product, coarse));
      }
      hierarchy.rebuild(A);
      for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
        expect_same_bits(*hierarchy.matrix(l), *fresh.matrix(l));
      }
    }
  }
}

/// By the definition, of the whole product.
DenseMatrix filtered(DenseMatrix A, double threshold) {
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    double largest = 0;
    for (GlobalIndex j = 0; j < A.cols(); ++j) largest = std::max(largest, std::abs(A(i, j)));
    double dropped = 0;
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      if (i == j || std::abs(A(i, j)) >= threshold * largest) continue;
      dropped += A(i, j);
      A(i, j) = 0;
    }
    A(i, i) += dropped;
  }
  return A;
}

TEST(Air, CoarseMatricesLoseSmallEntriesAndKeepTheirRowSums) {
  const DenseMatrix values =
      gathered(io::generate<double>(test::self_comm(), flow_problem(14, Flow::rotating, 1e-3)));
  Options options = air_options();
  options.set("coarse_filter", 0.01);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const Hierarchy<double> hierarchy(shared(distribute(values, layout)), options);
    ASSERT_GE(hierarchy.levels().size(), 3U);
    const auto product =
        matrix::multiply(*hierarchy.restriction(0),
                         matrix::multiply(*hierarchy.matrix(0), *hierarchy.interpolation(0)));
    const DenseMatrix expected = filtered(gathered(product), 0.01);
    expect_near(gathered(*hierarchy.matrix(1)), expected, 1e-12, "filtered");
    EXPECT_LT(hierarchy.levels()[1].nonzeros, product.nnz_global());
  }
}

/// A row that lumping would rob of its diagonal stays whole, also for new values.
TEST(Air, FilterLeavesRowsThatNeedTheirSmallEntries) {
  DenseMatrix values(8, 8);
  for (GlobalIndex i = 0; i < 8; ++i) {
    for (GlobalIndex j = 0; j < 8; ++j) values(i, j) = i == j ? 1 : i < 4 ? -0.14 : 0.04;
  }
  for (const matrix::Layout& layout : layouts_of(test_comm(), 8)) {
    const auto A = distribute(values, layout);
    const auto some = restriction::without_small_entries(A, 0.5);
    DenseMatrix expected = values;
    for (GlobalIndex i = 4; i < 8; ++i) {
      for (GlobalIndex j = 0; j < 8; ++j) expected(i, j) = i == j ? 1.28 : 0;
    }
    expect_near(gathered(some), expected, 1e-15, "some rows");
    EXPECT_EQ(some.nnz_global(), 36);
    expect_same_bits(restriction::filtered_alike(A, some), some);
    DenseMatrix turned = values;
    for (GlobalIndex i = 4; i < 8; ++i) {
      for (GlobalIndex j = 0; j < 8; ++j) turned(i, j) = i == j ? 1 : -0.3;
    }
    for (GlobalIndex i = 4; i < 8; ++i) expected(i, i) = 1;  // not 1 - 7 * 0.3
    expect_near(gathered(restriction::filtered_alike(distribute(turned, layout), some)), expected,
                1e-15, "new values");
  }
}

TEST(Air, RefusesWhatMultigridCannotStartFrom) {
  const Matrix A = shared(io::generate<double>(test_comm(), flow_problem(6, Flow::constant, 0)));
  Array<double> on = A->on().vals;
  if (A->n_local() > 0 && test_comm()->rank() == 0) {
    on[0] = std::numeric_limits<double>::quiet_NaN();
  }
  const auto broken = shared(A->with_values(std::move(on), A->off().vals));
  const std::string text = test::expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix, [&] {
    const Hierarchy<double> hierarchy(broken, air_options());
  });
  EXPECT_NE(text.find("not a finite number"), std::string::npos);
}

}  // namespace amg_air_test
}  // namespace nodewise::amg
