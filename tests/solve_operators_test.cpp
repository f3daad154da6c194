// The symmetry check, the matrix as an operator, the kernels, and the number of reductions.
#include <gtest/gtest.h>

#include "nodewise/solve/asymmetry.hpp"
#include "nodewise/solve/vector_ops.hpp"

#include "mpi_counter.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_operators_test {

using solve::Options;
using solve::Outcome;
using solve::Report;

// Guards against a non-symmetric preconditioner in CG.
TEST(Asymmetry, TellsSymmetricOperatorsFromOthers) {
  const comm::Layout layout = uniform(100);
  const auto symmetric = make_operator(layout, laplace);
  EXPECT_LE(solve::asymmetry<double>(symmetric), 1e-14);
  EXPECT_LE(solve::asymmetry<double>(symmetric, 7), 1e-14);
  const auto sweep = make_operator(layout, [](GlobalIndex i, GlobalIndex j) {
    return i == j || j == i - 1 ? 1.0 : 0.0;  // like one Gauss-Seidel sweep: triangular
  });
  EXPECT_GE(solve::asymmetry<double>(sweep), 1e-3);
  const auto slightly = make_operator(layout, [](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) + (i == 99 && j == 98 ? 1e-6 : 0.0);
  });
  EXPECT_GE(solve::asymmetry<double>(slightly), 1e-11);
}

TEST(Asymmetry, DoesNotDependOnTheRanks) {
  const Entry entry = [](GlobalIndex i, GlobalIndex j) { return j == i - 1 ? 1.0 : 0.0; };
  const double spread = solve::asymmetry<double>(make_operator(uniform(50), entry), 3);
  const double single = solve::asymmetry<double>(make_operator(on_last_rank(50), entry), 3);
  EXPECT_NEAR(spread, single, 1e-14);
}

TEST(Asymmetry, DegenerateOperators) {
  const comm::Layout layout = uniform(10);
  const Pointwise<double> zero(layout, [](GlobalIndex, double) { return 0.0; });
  EXPECT_EQ(solve::asymmetry<double>(zero), 0.0);
  const Pointwise<double> broken(layout, [](GlobalIndex, double) { return std::nan(""); });
  EXPECT_TRUE(std::isnan(solve::asymmetry<double>(broken)));
  const Pointwise<double> nothing(uniform(0), [](GlobalIndex, double x) { return x; });
  EXPECT_EQ(solve::asymmetry<double>(nothing), 0.0);
}

TEST(MatrixOperator, RefusesAMatrixWhoseLayoutsDiffer) {
  const comm::Layout rows = uniform(6);
  const comm::Layout cols = uniform(7);
  const auto A =
      std::make_shared<const matrix::DistMatrix<double>>(matrix::matrix_from_rows<double>(
          rows, cols, [](GlobalIndex i, const auto& emit) { emit(i, 1.0); }));
  EXPECT_THROW(solve::MatrixOperator<double>{A}, Error);
}

/// The reductions of a solve that stops after this many iterations.
template <class Solve>
int reductions(Solve solve, const solve::Operator<double>& A, const solve::Operator<double>* M,
               int iterations) {
  const std::vector<double> b = hashed_vector(A.layout(), 1);
  std::vector<double> x(b.size(), 0.0);
  const Options options{.tolerance = 1e-12, .max_iterations = iterations};
  Report report;
  const std::vector<int> one_node(static_cast<std::size_t>(test_comm()->size()), 0);
  const MpiCalls calls = counted(one_node, [&] { report = solve(A, M, b, x, options); });
  EXPECT_EQ(report.iterations, iterations);
  EXPECT_EQ(report.outcome, Outcome::max_iterations);
  return static_cast<int>(calls.collectives);
}

/// A method as `reductions` takes it.
auto by(const Choice<solve::KrylovMethod>& method) {
  return [method](const solve::Operator<double>& A, const solve::Operator<double>* M,
                  const std::vector<double>& b, std::vector<double>& x, const Options& options) {
    return solve::solve_by<double>(method, A, M, b, x, options);
  };
}

Report run_cg(const solve::Operator<double>& A, const solve::Operator<double>* M,
              const std::vector<double>& b, std::vector<double>& x, const Options& options) {
  return solve::cg<double>(A, M, b, x, options);
}

Report run_gmres(const solve::Operator<double>& A, const solve::Operator<double>* M,
                 const std::vector<double>& b, std::vector<double>& x, const Options& options) {
  return solve::gmres<double>(A, M, b, x, options);
}

// Diagonally dominant, so that the residual falls in every iteration.
double dominant(GlobalIndex i, GlobalIndex j) {
  return laplace(i, j) + (i == j ? 1.0 : 0.0);
}

TEST(Reductions, CgNeedsTwoAnIteration) {
  const comm::Layout layout = uniform(200);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M(layout, [](GlobalIndex, double r) { return r; });
  for (const solve::Operator<double>* m : {static_cast<const solve::Operator<double>*>(nullptr),
                                           static_cast<const solve::Operator<double>*>(&M)}) {
    EXPECT_EQ(reductions(run_cg, A, m, 14) - reductions(run_cg, A, m, 4), 20);
  }
}

// The two passes of Gram-Schmidt, and one agreement on the memory of every eight basis vectors.
TEST(Reductions, GmresNeedsTwoAStep) {
  const comm::Layout layout = uniform(200);
  const auto A = make_operator(layout, dominant);
  EXPECT_EQ(reductions(run_gmres, A, nullptr, 12) - reductions(run_gmres, A, nullptr, 4), 16 + 1);
  EXPECT_EQ(reductions(run_gmres, A, nullptr, 7) - reductions(run_gmres, A, nullptr, 4), 6);
}

// docs/methods/krylov.md has these numbers. A basis that grows costs agreements beside.
TEST(Reductions, OfAnIteration) {
  const comm::Layout layout = uniform(200);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M(layout, [](GlobalIndex, double r) { return r / 4; });
  for (const solve::KrylovMethod& described : solve::KrylovMethod::family()) {
    const Choice<solve::KrylovMethod> method(described);
    const int allreduces = (*described.cost)(method).allreduces;
    if (method.has_options<solve::GmresOptions>()) continue;
    EXPECT_EQ(reductions(by(method), A, &M, 7) - reductions(by(method), A, &M, 2), 5 * allreduces)
        << method.name();
  }
}

// The third reduction near the end must save the application that it is meant to save.
TEST(Reductions, CgWastesNoPreconditioner) {
  const comm::Layout layout = uniform(200);
  const auto A = make_operator(layout, dominant);
  const Pointwise<double> M(layout, [](GlobalIndex, double r) { return r / 3; });
  const std::vector<double> b = hashed_vector(layout, 2);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, &M, b, x, {});
  EXPECT_EQ(report.outcome, Outcome::converged);
  // A rank without rows counts its calls too.
  EXPECT_EQ(M.applications, report.iterations);
}

template <class T>
class VectorOps : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(VectorOps, Types);

// Lengths around the number of lanes and of a block, against plain loops.
TYPED_TEST(VectorOps, AgreeWithPlainLoops) {
  using T = TypeParam;
  const double tolerance = 50 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const std::size_t n : {0U, 1U, 7U, 8U, 9U, 511U, 512U, 513U, 1300U}) {
    std::vector<T> a(n);
    std::vector<T> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<T>(hash_uniform(i, 1) - 0.5);
      b[i] = static_cast<T>(hash_uniform(i, 2) - 0.5);
    }
    double ab = 0;
    double rr = 0;
    for (std::size_t i = 0; i < n; ++i) {
      ab += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      rr += std::pow(static_cast<double>(a[i]) - 0.5 * static_cast<double>(b[i]), 2);
    }
    EXPECT_NEAR((solve::dot_local<T>(a, b)), ab, 1e-13 * double(n));
    std::vector<T> x(n, T{1});
    std::vector<T> r = a;
    EXPECT_NEAR((solve::update<T>(0.5, a, b, x, r)), rr, tolerance * double(n));
    std::vector<T> d(n);
    solve::subtract<T>(a, b, d);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(x[i], T{1} + a[i] / 2, tolerance);
      EXPECT_NEAR(r[i], a[i] - b[i] / 2, tolerance);
      EXPECT_EQ(d[i], a[i] - b[i]);
    }
    solve::xpby<T>(a, 2.0, d);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(d[i], 3 * a[i] - 2 * b[i], tolerance);
  }
}

TYPED_TEST(VectorOps, ProjectAgainstABasis) {
  using T = TypeParam;
  const double tolerance = 1e3 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const std::size_t n = 1025;
  std::vector<Array<T>> basis(3, Array<T>(n));
  Array<T> w(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < 3; ++j) basis[j][i] = static_cast<T>(hash_uniform(i, j) - 0.5);
    w[i] = static_cast<T>(hash_uniform(i, 9) - 0.5);
  }
  std::vector<double> dots(4);
  solve::dots_with_basis<T>(basis, w, dots);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(dots[j], (solve::dot_local<T>(basis[j], w)), tolerance);
  }
  EXPECT_NEAR(dots[3], (solve::dot_local<T>(w, w)), tolerance);
  const std::vector<double> c = {1.0, -2.0, 0.5};
  Array<T> expected = w;
  for (std::size_t j = 0; j < 3; ++j) solve::axpy<T>(-c[j], basis[j], expected);
  solve::project_and_dot<T>(basis, c, w, dots);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(w[i], expected[i], tolerance);
  EXPECT_NEAR(dots[1], (solve::dot_local<T>(basis[1], expected)), tolerance);
  solve::combine<T>(basis, c, 1.0, 2.0, w);
  for (std::size_t j = 0; j < 3; ++j) solve::axpy<T>(c[j], basis[j], expected);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(w[i], 2 * expected[i], tolerance);
}

}  // namespace solve_operators_test
}  // namespace nodewise::test
