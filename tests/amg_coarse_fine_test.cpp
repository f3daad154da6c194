// Gauss-Seidel through the coarse points, then through the fine ones: against the same for dense
// matrices, and what cycles make of it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "aggregate_support.hpp"
#include "amg_support.hpp"
#include "collective_error.hpp"
#include "mpi_counter.hpp"
#include "smoother_support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace amg_coarse_fine_test {

using test::coarse_rows;
using test::DenseMatrix;
using test::distribute;
using test::dot;
using test::expect_near;
using test::gathered;
using test::hashed;
using test::is_coarse;
using test::layouts_of;
using test::norm;
using test::part_of;
using test::test_comm;
using Matrix = matrix::DistMatrix<double>;

/// Collective. A number for each row of all ranks: rows of one rank and thread have the same.
std::vector<int> blocks_of(const Matrix& A) {
  std::vector<double> mine(static_cast<std::size_t>(A.n_local()));
  const auto& row_ptr = A.on().row_ptr;
  const int parts = parallel::parts_of(A.on().cols.size() + row_ptr.size());
  for (int part = 0; part < parts; ++part) {
    std::fill(mine.begin() + parallel::row_part(row_ptr, parts, part),
              mine.begin() + parallel::row_part(row_ptr, parts, part + 1),
              A.comm().rank() * 100 + part);
  }
  const DenseMatrix all = gathered(A.comm(), mine);
  return {all.data(), all.data() + all.size()};
}

/// Sweeps on whole vectors, by one row after the other of the whole matrix.
class Reference {
 public:
  Reference(const DenseMatrix& A, std::vector<int> blocks, const Options& options)
      : A_(A), blocks_(std::move(blocks)), options_(options) {
    for (const bool coarse : {true, false}) {
      std::vector<GlobalIndex> points;
      for (GlobalIndex i = 0; i < A.rows(); ++i) {
        if (is_coarse(i) == coarse) points.push_back(i);
      }
      order_.insert(order_.end(), points.begin(), points.end());
      if (order_of(options) != SweepOrder::coarse_fine_symmetric) continue;
      order_.insert(order_.end(), points.rbegin(), points.rend());
    }
  }

  void sweep(bool forward, const DenseMatrix& b, DenseMatrix& x) const {
    const DenseMatrix before = x;
    std::vector<GlobalIndex> order = order_;
    if (!forward) std::reverse(order.begin(), order.end());
    for (const GlobalIndex i : order) {
      if (A_(i, i) == 0) continue;
      double r = b[i];
      for (GlobalIndex j = 0; j < A_.cols(); ++j) {
        r -= A_(i, j) * (together(i, j) ? x[j] : before[j]);
      }
      x[i] += r / divisor(i);
    }
  }
  DenseMatrix swept(int sweeps, bool forward, const DenseMatrix& b, DenseMatrix x) const {
    for (int k = 0; k < sweeps; ++k) sweep(forward, b, x);
    return x;
  }

 private:
  bool together(GlobalIndex i, GlobalIndex j) const {
    return blocks_[static_cast<std::size_t>(i)] == blocks_[static_cast<std::size_t>(j)];
  }
  double divisor(GlobalIndex i) const {
    const double weight = sor_weight(options_);
    const double size = std::abs(A_(i, i));
    double outside = 0;
    for (GlobalIndex j = 0; j < A_.cols(); ++j) outside += together(i, j) ? 0 : std::abs(A_(i, j));
    const bool is_added =
        options_.smoother == "l1_gauss_seidel" && outside / 2 > (2 / weight - 1) * size / 3;
    return std::copysign(size / weight + (is_added ? outside / 2 : 0), A_(i, i));
  }

  const DenseMatrix& A_;
  std::vector<int> blocks_;
  const Options& options_;
  std::vector<GlobalIndex> order_;
};

std::vector<Options> all_options() {
  std::vector<Options> all;
  for (const std::string kind : {"l1_gauss_seidel", "gauss_seidel"}) {
    for (const int sweeps : {1, 2}) {
      for (const double weight : {1.0, 1.3}) {
        Options options;
        options.smoother = kind;
        set_order(options, SweepOrder::coarse_fine);
        set_sweeps(options, sweeps);
        set_sor_weight(options, weight);
        all.push_back(options);
        set_order(options, SweepOrder::coarse_fine_symmetric);
        all.push_back(options);
      }
    }
  }
  return all;
}

std::vector<test::NamedMatrix> matrices() {
  std::vector<test::NamedMatrix> all = test::level_matrices();
  DenseMatrix holes = test::random_matrix(30, 0.2, 0.2, 6);
  for (GlobalIndex i = 0; i < 30; i += 4) holes(i, i) = 0;
  all.push_back({"zero diagonals", holes});
  return all;
}

/// Collective. Expects the sweeps before, from zero and from another x, and after to be the
/// reference's, and the residual to be b - A x.
template <class T>
void expect_reference(const matrix::DistMatrix<T>& A, const DenseMatrix& values,
                      const std::vector<int>& blocks, const Options& options, double tolerance,
                      const std::string& name) {
  const matrix::Layout& layout = A.rows();
  const DenseMatrix b = hashed(values.rows(), 1);
  const DenseMatrix start = hashed(values.rows(), 2);
  const auto part = [&](const DenseMatrix& whole) {
    const std::vector<double> mine = part_of(layout, whole);
    return std::vector<T>(mine.begin(), mine.end());
  };
  const Smoother<T> smoother(A, options, {.coarse_rows = coarse_rows(layout)});
  const Reference reference(values, blocks, options);
  const std::vector<T> mine = part(b);
  const auto expect_before = [&](const std::vector<T>& x, const std::vector<T>& r,
                                 const DenseMatrix& from) {
    const DenseMatrix expected =
        reference.swept(sweep_counts(options.cycle).pre_sweeps, true, b, from);
    expect_near(gathered(A.comm(), x), expected, tolerance, name + ", before");
    EXPECT_LE(norm(gathered(A.comm(), r) - (b - values * expected)),
              tolerance * (norm(b) + norm(values * expected)))
        << name;
  };
  std::vector<T> x(mine.size(), T{1000}), r(mine.size());
  smoother.presmooth(mine, x, r);
  expect_before(x, r, DenseMatrix(values.rows()));
  x = part(start);
  smoother.presmooth_further(mine, x, r);
  expect_before(x, r, start);
  x = part(start);
  smoother.postsmooth(mine, x);
  expect_near(gathered(A.comm(), x),
              reference.swept(sweep_counts(options.cycle).post_sweeps, false, b, start), tolerance,
              name + ", after");
}

TEST(CoarseFineGaussSeidel, EqualsSweepsOnDenseMatrices) {
  for (const auto& [name, values] : matrices()) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), 77)) {
      const auto A = distribute(values, layout);
      const std::vector<int> blocks = blocks_of(A);
      for (const Options& options : all_options()) {
        expect_reference(A, values, blocks, options, 1e-12, name);
      }
    }
  }
}

TEST(CoarseFineGaussSeidel, EqualsThemInFloatUpToItsPrecision) {
  const DenseMatrix values = test::model("rotated_fe", 7);
  const auto layout = matrix::Layout::uniform(test_comm(), values.rows());
  const std::vector<int> blocks = blocks_of(distribute(values, layout));
  const auto A = distribute<float>(values, layout);
  for (const Options& options : all_options()) {
    expect_reference(A, values, blocks, options, 1e-5, "float");
  }
}

// Of other threads it sees what it sees of other ranks.
TEST(CoarseFineGaussSeidel, SweepsOnThreadsAsOnAsManyRanks) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const test::Threads threads(2);
  const DenseMatrix values = test::random_matrix(280, 0.9, 0.2, 5);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), values.rows()));
  const std::vector<int> blocks = blocks_of(A);
  EXPECT_NE(blocks.front() % 100, 1);
  EXPECT_EQ(blocks.back() % 100, 1) << "the matrix is too small to be worth threads";
  for (const Options& options : all_options()) {
    expect_reference(A, values, blocks, options, 1e-10, "threads");
  }
}

// The coarse points first, whatever the numbering: on one rank a matrix whose coarse rows are
// numbered first is swept as in its natural order.
TEST(CoarseFineGaussSeidel, IsTheNaturalOrderOfRowsThatAreSorted) {
  const DenseMatrix values = test::random_matrix(30, 0.2, 0.2, 6);
  const auto A = test::serial(values);
  Options options;
  set_order(options, SweepOrder::coarse_fine);
  const std::vector<LocalIndex> coarse = {0, 1, 2, 3, 4, 5};
  const Smoother<double> coarse_fine(A, options, {.coarse_rows = coarse});
  set_order(options, SweepOrder::forward_backward);
  const Smoother<double> natural(A, options);
  const std::vector<double> b = part_of(A.rows(), hashed(30, 1));
  std::vector<double> x(b.size()), r(b.size()), expected(b.size());
  natural.presmooth(b, expected, r);
  coarse_fine.presmooth(b, x, r);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-14);
  natural.postsmooth(b, expected);
  coarse_fine.postsmooth(b, x);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-14);
}

// What conjugate gradients need: <M u, v> = <u, M' v>.
TEST(CoarseFineGaussSeidel, AfterIsTheAdjointOfBefore) {
  const DenseMatrix values = test::random_symmetric(40, 0.1, 0.2, 3);
  const DenseMatrix u = hashed(values.rows(), 4);
  const DenseMatrix v = hashed(values.rows(), 5);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    for (const Options& options : all_options()) {
      const Smoother<double> smoother(A, options, {.coarse_rows = coarse_rows(layout)});
      std::vector<double> x(static_cast<std::size_t>(layout.n_local())), r(x.size());
      smoother.presmooth(part_of(layout, u), x, r);
      const DenseMatrix Mu = gathered(A.comm(), x);
      std::fill(x.begin(), x.end(), 0.0);
      smoother.postsmooth(part_of(layout, v), x);
      const DenseMatrix Mv = gathered(A.comm(), x);
      EXPECT_NEAR(dot(Mu, v), dot(u, Mv), 1e-12 * norm(Mu) * norm(v));
    }
  }
}

TEST(CoarseFineGaussSeidel, TheL1FormConvergesForStronglyCoupledRanks) {
  constexpr GlobalIndex n = 24;
  DenseMatrix values(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) values(i, j) = i == j ? 1.0 : 0.9;
  }
  const auto energy = [&](const DenseMatrix& x) { return dot(x, values * x); };
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    const auto A = distribute(values, layout);
    for (const double weight : {0.5, 1.0, 1.95}) {
      Options options;
      set_order(options, SweepOrder::coarse_fine);
      set_sor_weight(options, weight);
      const Smoother<double> smoother(A, options, {.coarse_rows = coarse_rows(layout)});
      const std::vector<double> zero(static_cast<std::size_t>(layout.n_local()));
      std::vector<double> error = part_of(layout, hashed(n, 3));
      for (int k = 0; k < 5; ++k) {
        const double before = energy(gathered(A.comm(), error));
        smoother.postsmooth(zero, error);
        EXPECT_LT(energy(gathered(A.comm(), error)), before) << "weight " << weight;
      }
    }
  }
}

// One exchange a sweep, none from zero: the messages of the residual alone, or of one product.
TEST(CoarseFineGaussSeidel, ExchangesOnceASweep) {
  const DenseMatrix values = test::random_symmetric(40, 0.3, 0.2, 3);
  const std::vector<int> one_node(static_cast<std::size_t>(test_comm()->size()), 0);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    Options options;
    set_order(options, SweepOrder::coarse_fine);
    const Smoother<double> smoother(A, options, {.coarse_rows = coarse_rows(layout)});
    const auto n = static_cast<std::size_t>(layout.n_local());
    std::vector<double> b(n, 1.0), x(n), r(n);
    const auto product = test::counted(
        one_node, [&] { matrix::multiply(A, std::span<const double>(b), std::span<double>(r)); });
    EXPECT_EQ(test::counted(one_node, [&] { smoother.presmooth(b, x, r); }), product);
    EXPECT_EQ(test::counted(one_node, [&] { smoother.postsmooth(b, x); }), product);
  }
}

Options coarse_fine() {
  Options options;
  set_order(options, SweepOrder::coarse_fine);
  return options;
}

std::shared_ptr<const Matrix> generated(const std::string& problem, int n) {
  return std::make_shared<const Matrix>(
      io::generate<double>(test_comm(), {.problem = problem, .n = n}));
}

int iterations(const std::shared_ptr<const Matrix>& A, const Hierarchy<double>& hierarchy,
               const char* method) {
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const solve::Report report =
      solve::solve_by<double>(method, solve::MatrixOperator<double>(A), &hierarchy, b, x, {});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  return report.iterations;
}

TEST(CoarseFineGaussSeidel, IsASymmetricPreconditionerInEitherPrecision) {
  EXPECT_EQ(asymmetry_of(coarse_fine()), "");
  const auto A = generated("rotated_fe", 40);
  Options options = coarse_fine();
  const int in_double = iterations(A, Hierarchy<double>(A, options), "cg");
  options.precision = Precision::single;
  const int in_single = iterations(A, Hierarchy<double>(A, options), "cg");
  EXPECT_LE(std::abs(in_single - in_double), 1);
  EXPECT_LE(in_double, 16);
}

// On a last level that is relaxed there are no coarse points.
TEST(CoarseFineGaussSeidel, RelaxesALastLevelInTheNaturalOrder) {
  const auto A = generated("laplace5", 30);
  Options options = coarse_fine();
  options.max_levels = 1;
  const auto applied = [&] {
    const Hierarchy<double> hierarchy(A, options);
    const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
    std::vector<double> x(b.size(), 0.0);
    hierarchy.apply(b, x);
    return gathered(A->comm(), x);
  };
  const DenseMatrix x = applied();
  set_order(options, SweepOrder::forward_backward);
  expect_near(x, applied(), 1e-13, "last level");
}

// With several unknowns a point, products go by blocks and sweeps by rows.
TEST(CoarseFineGaussSeidel, GoesByRowsThroughFullBlocks) {
  const DenseMatrix values = test::random_matrix(24, 0.9, 0.2, 5);
  const auto A = distribute(values, test::layouts_of_points(12, 2).front()).with_blocks(2);
  expect_reference(A, values, blocks_of(A), all_options().front(), 1e-12, "blocks");
}

TEST(CoarseFineGaussSeidel, IsRefusedByAllRanksWhereThereIsNoSuchOrder) {
  const auto A = generated("laplace5", 12);
  const auto expect_refused = [&](const Options& options) {
    const std::string text =
        test::expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                                [&] { const Hierarchy<double> hierarchy(A, options); });
    EXPECT_NE(
        text.find("coarse_fine_symmetric are for the smoothers l1_gauss_seidel and gauss_seidel"),
        std::string::npos)
        << text;
  };
  Options options = coarse_fine();
  options.method = "aggregation";
  expect_refused(options);
  for (const char* kind : {"l1_block_gauss_seidel", "fc_jacobi"}) {
    options = coarse_fine();
    options.smoother.choose(kind);  // in the same order
    expect_refused(options);
  }
}

}  // namespace amg_coarse_fine_test
}  // namespace nodewise::amg
