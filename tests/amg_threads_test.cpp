// The same products on several threads as on one; sweeps as on as many ranks.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/matrix/recompute.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"
#include "nodewise/solve/vector_ops.hpp"

#include "amg_support.hpp"
#include "smoother_support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace amg_threads_test {

using kernels::Csr;
using test::DenseMatrix;
using test::hashed;
using test::Threads;

using Matrix = matrix::DistMatrix<double>;

std::shared_ptr<const Matrix> problem(const std::string& kind, int n) {
  return std::make_shared<const Matrix>(
      io::generate<double>(test::test_comm(), {.problem = kind, .n = n}));
}

std::vector<double> vector_for(const matrix::Layout& layout, unsigned seed) {
  std::vector<double> x(static_cast<std::size_t>(layout.n_local()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i) + seed);
  return x;
}

TEST(ThreadedProducts, AreTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem("laplace27", 14);
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
    test::expect_same_bits(kernels::transpose(A->on()), At, "transpose");
    test::expect_same_bits(matrix::multiply(*A, *A), AA, "product");
    std::vector<double> other(b.size());
    matrix::multiply_transposed(*A, std::span<const double>(b), std::span<double>(other));
    for (std::size_t i = 0; i < yt.size(); ++i) EXPECT_NEAR(other[i], yt[i], 1e-12);
  }
}

/// Point by point, where parts must begin with points.
TEST(ThreadedProducts, OfPointsAreTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  constexpr GlobalIndex unknowns = 3, points = 70;
  const auto A = problem("laplace27", 14);
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
  test::expect_same_bits(C, matrix::galerkin_product(*A, P), "by rows");
  for (const int n : {2, 3}) {
    const Threads threads(n);
    test::expect_same_bits(product(), C, "by points");
    test::expect_same_bits(matrix::GalerkinProduct<double>(*A, P, C, unknowns).recompute(*A), C,
                           "again");
  }
}

TEST(ThreadedVectors, AreTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  constexpr std::size_t n = 40000, n_basis = 5;
  const auto numbers = [](unsigned seed) {
    Array<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<double>(i + 17 * seed));
    return x;
  };
  std::vector<Array<double>> basis;
  for (unsigned j = 0; j < n_basis; ++j) basis.push_back(numbers(j));
  const std::vector<double> c = {0.1, -0.2, 0.3, 0.7, 1.1};
  const auto results = [&] {
    Array<double> w = numbers(9);
    std::vector<double> first(n_basis + 1), second(n_basis + 1);
    solve::dots_with_basis<double>(basis, w, first);
    solve::project_and_dot<double>(basis, c, w, second);
    solve::combine<double>(basis, c, 1.0, 0.3, w);
    solve::scale<double>(3.0, w);
    first.insert(first.end(), second.begin(), second.end());
    first.push_back(solve::dot_local<double>(w, basis[0]));
    first.push_back(solve::update<double>(0.1, basis[1], basis[2], w, basis[3]));
    basis[3] = numbers(3);
    first.insert(first.end(), w.begin(), w.end());
    return first;
  };
  const auto expected = results();
  for (const int threads : {2, 3}) {
    const Threads guard(threads);
    EXPECT_EQ(results(), expected) << threads << " threads";
  }
}

TEST(ThreadedGmres, HasTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem("laplace27", 30);
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> b = vector_for(A->rows(), 4);
  const auto solution = [&] {
    std::vector<double> x(b.size(), 0.0);
    const auto report =
        solve::gmres<double>(op, nullptr, b, x, {.max_iterations = 6}, {}, {.restart = 4});
    EXPECT_EQ(report.iterations, 6);
    return x;
  };
  const std::vector<double> expected = solution();
  const Threads threads(3);
  EXPECT_EQ(solution(), expected);
}

/// Which sweep a row belongs to: rank and thread. `row_ptr` is of points of so many rows.
std::vector<int> blocks_of(const Matrix& A, std::span<const Offset> row_ptr, LocalIndex unknowns,
                           int threads) {
  std::vector<int> mine(static_cast<std::size_t>(A.n_local()));
  const auto entries = static_cast<std::size_t>(row_ptr.back() * unknowns * unknowns);
  const int parts = parallel::parts_of(entries + row_ptr.size());
  EXPECT_EQ(parts, threads) << "the matrix is too small to be worth threads";
  for (int part = 0; part < parts; ++part) {
    for (LocalIndex i = unknowns * parallel::row_part(row_ptr, parts, part);
         i < unknowns * parallel::row_part(row_ptr, parts, part + 1); ++i) {
      mine[static_cast<std::size_t>(i)] = A.comm().rank() * 100 + part;
    }
  }
  const std::vector<double> numbers(mine.begin(), mine.end());
  const DenseMatrix all = test::gathered(A.comm(), numbers);
  std::vector<int> blocks;
  for (GlobalIndex i = 0; i < A.rows().n_global(); ++i) blocks.push_back(static_cast<int>(all[i]));
  return blocks;
}

/// A sweep through the rows, or through points of two, which sees what it has made in the row's own
/// block only.
void sweep(const DenseMatrix& A, const std::vector<int>& blocks, GlobalIndex unknowns, bool forward,
           const DenseMatrix& others, const DenseMatrix& b, DenseMatrix& x) {
  const auto residual = [&](GlobalIndex i) {
    double r = b[i];
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      const bool same = blocks[static_cast<std::size_t>(i)] == blocks[static_cast<std::size_t>(j)];
      r -= A(i, j) * (same ? x[j] : others[j]);
    }
    return r;
  };
  for (GlobalIndex k = 0; k < A.rows(); k += unknowns) {
    const GlobalIndex i = forward ? k : A.rows() - unknowns - k;
    const double r = residual(i);
    if (unknowns == 1) {
      x[i] += r / A(i, i);
      continue;
    }
    const double s = residual(i + 1);
    const double determinant = A(i, i) * A(i + 1, i + 1) - A(i, i + 1) * A(i + 1, i);
    x[i] += (A(i + 1, i + 1) * r - A(i, i + 1) * s) / determinant;
    x[i + 1] += (A(i, i) * s - A(i + 1, i) * r) / determinant;
  }
}

/// Pre- and postsmoothing by two threads of each rank against the sweeps above.
void expect_sweeps_by_blocks(const std::string& kind, LocalIndex unknowns) {
  const GlobalIndex n = 280;
  const DenseMatrix values = test::random_matrix(n, 0.9, 0.2, 5);
  const DenseMatrix b = hashed(n, 6);
  const auto layout = matrix::Layout::uniform(test::test_comm(), n);
  const Matrix by_rows = test::distribute(values, layout);
  const Matrix A = unknowns > 1 ? by_rows.with_blocks(unknowns) : by_rows;
  const Threads threads(2);
  const auto blocks =
      blocks_of(A, unknowns > 1 ? A.blocks()->on().row_ptr : A.on().row_ptr, unknowns, 2);
  for (const SweepOrder order : {SweepOrder::forward_backward, SweepOrder::symmetric}) {
    Options options;
    options.smoother = kind;
    set_order(options, order);
    const Smoother<double> smoother(A, options);
    const GlobalIndex at_once = kind == "block_gauss_seidel" ? unknowns : 1;
    const auto swept = [&](bool forward, const DenseMatrix& others, DenseMatrix& x) {
      sweep(values, blocks, at_once, forward, others, b, x);
    };
    DenseMatrix expected(n);
    const DenseMatrix zero(n);
    swept(true, zero, expected);
    if (order == SweepOrder::symmetric) swept(false, zero, expected);
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
    if (order == SweepOrder::symmetric) swept(true, before, expected);
    swept(false, before, expected);
    smoother.postsmooth(b_mine, x);
    test::expect_near(test::gathered(A.comm(), x), expected, 1e-10, "after");
  }
}

TEST(ThreadedGaussSeidel, SweepsAsOnAsManyRanks) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  expect_sweeps_by_blocks("gauss_seidel", 1);
  expect_sweeps_by_blocks("gauss_seidel", 2);
  expect_sweeps_by_blocks("block_gauss_seidel", 2);
}

// Several vectors at once do what they do one by one.
TEST(ThreadedGaussSeidel, SweepsOfSeveralVectorsAreThoseOfEach) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const GlobalIndex n = 280;
  const auto layout = matrix::Layout::uniform(test::test_comm(), n);
  const Matrix A = test::distribute(test::random_matrix(n, 0.9, 0.2, 5), layout).with_blocks(2);
  const Threads threads(2);
  constexpr std::size_t width = 5;
  const auto rows = static_cast<std::size_t>(A.n_local());
  for (const std::string kind : {"gauss_seidel", "block_gauss_seidel"}) {
    Options options;
    options.smoother = kind;
    const auto relaxation = relax::make_relaxation(A, options.smoother);
    for (const relax::Sweep sweep : {relax::Sweep::first_symmetric, relax::Sweep::symmetric}) {
      std::vector<double> B, X;
      for (std::size_t k = 0; k < rows * width; ++k) {
        B.push_back(std::cos(static_cast<double>(k)));
        X.push_back(std::sin(static_cast<double>(k)));
      }
      const std::vector<double> X_before = X;
      relaxation->sweep_block(sweep, B, X, width);
      for (std::size_t c = 0; c < width; ++c) {
        std::vector<double> b(rows), x(rows);
        for (std::size_t i = 0; i < rows; ++i) {
          b[i] = B[i * width + c];
          x[i] = X_before[i * width + c];
        }
        relaxation->run(sweep, b, x);
        for (std::size_t i = 0; i < rows; ++i) EXPECT_NEAR(X[i * width + c], x[i], 1e-11);
      }
    }
  }
}

// All unknowns are coupled as strongly as can be: three threads' steps in one direction add up.
TEST(ThreadedGaussSeidel, L1FormsConvergeForStronglyCoupledThreads) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const GlobalIndex n = 280;
  DenseMatrix values(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) values(i, j) = i == j ? 1.5 : 1;
  }
  const auto layout = matrix::Layout::uniform(test::test_comm(), n);
  const Matrix A = test::distribute(values, layout).with_blocks(2);
  const Threads threads(3);
  const auto energies = [&](const std::string& kind) {
    Options options;
    options.smoother = kind;
    const auto relaxation = relax::make_relaxation(A, options.smoother);
    const std::vector<double> b(static_cast<std::size_t>(A.n_local()), 0.0);
    std::vector<double> x(b.size(), 1.0), result;
    for (int k = 0; k < 4; ++k) {
      const DenseMatrix e = test::gathered(A.comm(), x);
      result.push_back(test::dot(e, values * e));
      relaxation->sweep(relax::Direction::forward, b, x);
    }
    return result;
  };
  for (const std::string kind : {"l1_gauss_seidel", "l1_block_gauss_seidel"}) {
    const auto energy = energies(kind);
    EXPECT_TRUE(std::is_sorted(energy.rbegin(), energy.rend())) << kind;
    EXPECT_LT(energy.back(), energy.front());
  }
  const auto energy = energies("block_gauss_seidel");
  EXPECT_GT(energy.back(), energy.front());
}

TEST(ThreadedSolve, TakesAboutAsManyIterations) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem("laplace27", 16);
  const auto iterations = [&](const Options& options) {
    const Hierarchy<double> hierarchy(A, options);
    const solve::MatrixOperator<double> op(A);
    const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
    std::vector<double> x(b.size(), 0.0);
    const auto report = solve::cg<double>(op, &hierarchy, b, x, {.tolerance = 1e-8});
    EXPECT_EQ(report.outcome, solve::Outcome::converged);
    return report.iterations;
  };
  for (const std::string smoother : {"l1_gauss_seidel", "l1_jacobi", "chebyshev"}) {
    Options options;
    options.smoother = smoother;
    const int on_one = iterations(options);
    const Threads threads(3);
    EXPECT_NEAR(iterations(options), on_one, smoother == "l1_gauss_seidel" ? 2 : 0);
  }
}

}  // namespace amg_threads_test
}  // namespace nodewise::amg
