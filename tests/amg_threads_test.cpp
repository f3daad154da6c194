// The same matrices, products and hierarchies on several threads as on one; sweeps as on as many
// ranks.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/smoother.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/matrix/recompute.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace {

using io::Problem;
using kernels::Csr;
using test::DenseMatrix;
using test::hashed;
using test::Threads;

using Matrix = matrix::DistMatrix<double>;

std::shared_ptr<const Matrix> problem(Problem kind, int n) {
  return std::make_shared<const Matrix>(
      io::generate<double>(test::test_comm(), {.problem = kind, .n = n}));
}

void expect_same(const Csr<double>& a, const Csr<double>& b, const std::string& what) {
  EXPECT_TRUE(std::equal(a.row_ptr.begin(), a.row_ptr.end(), b.row_ptr.begin(), b.row_ptr.end()))
      << what;
  EXPECT_TRUE(std::equal(a.cols.begin(), a.cols.end(), b.cols.begin(), b.cols.end())) << what;
  EXPECT_EQ(a.vals, b.vals) << what;
}

void expect_same(const Matrix& a, const Matrix& b, const std::string& what) {
  expect_same(a.on(), b.on(), what);
  expect_same(a.off(), b.off(), what);
}

std::vector<double> vector_for(const matrix::Layout& layout, unsigned seed) {
  std::vector<double> x(static_cast<std::size_t>(layout.n_local()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i) + seed);
  return x;
}

TEST(ThreadedProducts, AreTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem(Problem::laplace27, 14);
  const std::vector<double> x = vector_for(A->cols(), 1);
  const std::vector<double> b = vector_for(A->rows(), 2);
  const auto results = [&] {
    std::vector<double> y(b.size()), r(b.size()), sum = b;
    matrix::multiply(*A, std::span<const double>(x), std::span<double>(y));
    matrix::residual(*A, std::span<const double>(x), std::span<const double>(b),
                     std::span<double>(r));
    matrix::multiply_add(*A, std::span<const double>(x), std::span<double>(sum));
    return std::vector{y, r, sum};
  };
  const auto expected = results();
  const Csr<double> At = kernels::transpose(A->on());
  const Matrix AA = matrix::multiply(*A, *A);
  std::vector<double> yt(b.size());
  matrix::multiply_transposed(*A, std::span<const double>(b), std::span<double>(yt));
  for (const int n : {2, 3}) {
    const Threads threads(n);
    EXPECT_EQ(results(), expected);
    expect_same(kernels::transpose(A->on()), At, "transpose");
    expect_same(matrix::multiply(*A, *A), AA, "product");
    std::vector<double> other(b.size());
    matrix::multiply_transposed(*A, std::span<const double>(b), std::span<double>(other));
    for (std::size_t i = 0; i < yt.size(); ++i) EXPECT_NEAR(other[i], yt[i], 1e-12);
  }
}

/// Point by point, where parts must begin with points.
TEST(ThreadedProducts, OfPointsAreTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  constexpr GlobalIndex unknowns = 3, points = 70;
  const auto A = problem(Problem::laplace27, 14);
  const auto coarse = matrix::Layout::uniform(test::test_comm(), 2 * points * unknowns);
  const auto P =
      matrix::matrix_from_rows<double>(A->rows(), coarse, [](GlobalIndex i, auto&& emit) {
        for (GlobalIndex k = 0; k < 4 * unknowns; ++k) {
          const GlobalIndex column =
              (i / 40 + 7 * (k / unknowns)) % points * unknowns + k % unknowns;
          emit(column, std::sin(static_cast<double>(i + 3 * k)));
        }
      });
  const auto product = [&] {
    return matrix::galerkin_product(*A, P, matrix::GalerkinForm::fused, unknowns);
  };
  const Matrix C = product();
  expect_same(C, matrix::galerkin_product(*A, P), "by rows");
  for (const int n : {2, 3}) {
    const Threads threads(n);
    expect_same(product(), C, "by points");
    expect_same(matrix::GalerkinProduct<double>(*A, P, C, unknowns).recompute(*A), C, "again");
  }
}

/// Whatever the interpolation, and again for new values.
TEST(ThreadedHierarchy, IsTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem(Problem::laplace27, 14);
  for (const Interpolation interpolation :
       {Interpolation::extended_i, Interpolation::standard, Interpolation::modified_classical,
        Interpolation::direct, Interpolation::multipass}) {
    Options options;
    options.interpolation = interpolation;
    const Hierarchy<double> serial(A, options);
    const Threads threads(3);
    Hierarchy<double> threaded(A, options);
    for (int round = 0; round < 2; ++round) {
      ASSERT_EQ(threaded.levels().size(), serial.levels().size());
      for (std::size_t l = 0; l < serial.levels().size(); ++l) {
        const std::string what = "level " + std::to_string(l);
        expect_same(*threaded.matrix(l), *serial.matrix(l), what);
        if (serial.interpolation(l) == nullptr) continue;
        expect_same(*threaded.interpolation(l), *serial.interpolation(l), what + ", prolongation");
      }
      threaded.rebuild(A);
    }
  }
}

std::shared_ptr<const Matrix> flow(int n) {
  io::GalleryOptions gallery;
  gallery.problem = Problem::convection2d;
  gallery.n = n;
  gallery.flow = io::Flow::rotating;
  return std::make_shared<const Matrix>(io::generate<double>(test::test_comm(), gallery));
}

/// Restrictions, filtered products, those for new values, and sweeps over fine and coarse points.
TEST(ThreadedAir, IsTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = flow(90);
  Options options;
  options.method = Method::air;
  options.restriction_truncation = 0.01;
  options.coarse_filter = 1e-3;
  const std::vector<double> b = vector_for(A->rows(), 3);
  const auto applied = [&](const Hierarchy<double>& hierarchy) {
    std::vector<double> x(b.size());
    hierarchy.apply(b, x);
    return x;
  };
  const Hierarchy<double> serial(A, options);
  const std::vector<double> expected = applied(serial);
  const Threads threads(3);
  ASSERT_GT(parallel::parts_of(A->on().cols.size()), 1) << "too small to be worth threads";
  Hierarchy<double> threaded(A, options);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(threaded.levels().size(), serial.levels().size());
    for (std::size_t l = 0; l < serial.levels().size(); ++l) {
      const std::string what = "level " + std::to_string(l);
      expect_same(*threaded.matrix(l), *serial.matrix(l), what);
      if (serial.restriction(l) == nullptr) continue;
      expect_same(*threaded.restriction(l), *serial.restriction(l), what + ", restriction");
    }
    EXPECT_EQ(applied(threaded), expected);
    threaded.rebuild(A);
  }
}

/// Which sweep a row belongs to: rank and thread.
std::vector<int> blocks_of(const Matrix& A, int threads) {
  std::vector<int> mine(static_cast<std::size_t>(A.n_local()));
  const auto work = A.on().cols.size() + A.on().row_ptr.size();
  const int parts = parallel::parts_of(work);
  EXPECT_EQ(parts, threads) << "the matrix is too small to be worth threads";
  for (int part = 0; part < parts; ++part) {
    for (LocalIndex i = parallel::row_part(A.on().row_ptr, parts, part);
         i < parallel::row_part(A.on().row_ptr, parts, part + 1); ++i) {
      mine[static_cast<std::size_t>(i)] = A.comm().rank() * 100 + part;
    }
  }
  const std::vector<double> numbers(mine.begin(), mine.end());
  const DenseMatrix all = test::gathered(A.comm(), numbers);
  std::vector<int> blocks;
  for (GlobalIndex i = 0; i < A.rows().n_global(); ++i) blocks.push_back(static_cast<int>(all[i]));
  return blocks;
}

/// A sweep through the rows, which sees what it has made in the row's own block only.
void sweep(const DenseMatrix& A, const std::vector<int>& blocks, bool forward,
           const DenseMatrix& others, const DenseMatrix& b, DenseMatrix& x) {
  for (GlobalIndex k = 0; k < A.rows(); ++k) {
    const GlobalIndex i = forward ? k : A.rows() - 1 - k;
    double r = b[i];
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      const bool same = blocks[static_cast<std::size_t>(i)] == blocks[static_cast<std::size_t>(j)];
      r -= A(i, j) * (same ? x[j] : others[j]);
    }
    x[i] += r / A(i, i);
  }
}

TEST(ThreadedGaussSeidel, SweepsAsOnAsManyRanks) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const GlobalIndex n = 280;
  const DenseMatrix values = test::random_matrix(n, 0.9, 0.2, 5);
  const DenseMatrix b = hashed(n, 6);
  const auto layout = matrix::Layout::uniform(test::test_comm(), n);
  const auto A = test::distribute(values, layout);
  const Threads threads(2);
  const auto blocks = blocks_of(A, 2);
  for (const SweepOrder order : {SweepOrder::forward_backward, SweepOrder::symmetric}) {
    Options options;
    options.smoother = SmootherKind::gauss_seidel;
    options.sweep_order = order;
    const Smoother<double> smoother(A, options);
    DenseMatrix expected(n);
    const DenseMatrix zero(n);
    sweep(values, blocks, true, zero, b, expected);
    if (order == SweepOrder::symmetric) sweep(values, blocks, false, zero, b, expected);
    const auto rows = static_cast<std::size_t>(A.n_local());
    std::vector<double> x(rows, 7.0), r(rows, 8.0);
    const std::vector<double> b_mine = test::part_of(layout, b);
    smoother.presmooth(b_mine, x, r);
    test::expect_near(test::gathered(A.comm(), x), expected, 1e-11, "before");
    std::vector<double> residual(rows);
    matrix::residual(A, std::span<const double>(x), std::span<const double>(b_mine),
                     std::span<double>(residual));
    for (std::size_t i = 0; i < rows; ++i) EXPECT_NEAR(r[i], residual[i], 1e-10);
    const DenseMatrix before = expected;
    if (order == SweepOrder::symmetric) sweep(values, blocks, true, before, b, expected);
    sweep(values, blocks, false, before, b, expected);
    smoother.postsmooth(b_mine, x);
    test::expect_near(test::gathered(A.comm(), x), expected, 1e-10, "after");
  }
}

TEST(ThreadedSolve, TakesAboutAsManyIterations) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem(Problem::laplace27, 16);
  const auto iterations = [&](const Options& options) {
    const Hierarchy<double> hierarchy(A, options);
    const solve::MatrixOperator<double> op(A);
    const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
    std::vector<double> x(b.size(), 0.0);
    const auto report = solve::cg<double>(op, &hierarchy, b, x, {.tolerance = 1e-8});
    EXPECT_EQ(report.outcome, solve::Outcome::converged);
    return report.iterations;
  };
  for (const SmootherKind smoother :
       {SmootherKind::l1_gauss_seidel, SmootherKind::l1_jacobi, SmootherKind::chebyshev}) {
    Options options;
    options.smoother = smoother;
    const int on_one = iterations(options);
    const Threads threads(3);
    EXPECT_NEAR(iterations(options), on_one, smoother == SmootherKind::l1_gauss_seidel ? 2 : 0);
  }
}

}  // namespace
}  // namespace nodewise::amg
