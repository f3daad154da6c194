// Pipelined CG: the iterates of CG, its accuracy, and its reductions.
#include <gtest/gtest.h>

#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_pipelined_cg_test {

using solve::Options;
using solve::Outcome;
using solve::Report;

Report run(const solve::Operator<double>& A, const solve::Operator<double>* M,
           const std::vector<double>& b, std::vector<double>& x, const Options& options = {}) {
  return solve::pipelined_cg<double>(A, M, b, x, options);
}

TEST(PipelinedCg, HasTheIteratesOfCg) {
  const comm::Layout layout = uniform(200);
  const auto A = make_operator(layout, laplace);
  const Pointwise<double> M(
      layout, [](GlobalIndex i, double r) { return r / (1 + static_cast<double>(i % 5)); });
  const std::vector<double> b = hashed_vector(layout, 1);
  for (const solve::Operator<double>* m :
       {(const solve::Operator<double>*)nullptr, (const solve::Operator<double>*)&M}) {
    std::vector<double> x(b.size(), 0.0);
    const Report plain = solve::cg<double>(A, m, b, x, {.max_iterations = 15});
    std::vector<double> y(b.size(), 0.0);
    const Report pipelined = run(A, m, b, y, {.max_iterations = 15});
    ASSERT_EQ(pipelined.history.size(), plain.history.size());
    for (std::size_t k = 0; k < plain.history.size(); ++k) {
      EXPECT_NEAR(pipelined.history[k], plain.history[k], 1e-8 * plain.history[k]);
    }
    EXPECT_LE((whole(x) - whole(y)).norm(), 1e-8 * whole(x).norm());
  }
}

/// A tridiagonal matrix of condition 1e6 or so, whose diagonal varies.
double graded(GlobalIndex i, GlobalIndex j) {
  const double scale = std::pow(10.0, static_cast<double>((i * 7) % 5 + (j * 7) % 5) / 2);
  return scale * (laplace(i, j) + (i == j ? 0.01 : 0.0));
}

// The recurrences alone would lose several digits here: residual replacement gives them back.
TEST(PipelinedCg, ReachesTheAccuracyOfCg) {
  const comm::Layout layout = uniform(200);
  const auto A = make_operator(layout, graded);
  const std::vector<double> b = hashed_vector(layout, 2);
  for (const double tolerance : {1e-8, 1e-12, 1e-20}) {
    const Options options{.tolerance = tolerance, .max_iterations = 3000};
    std::vector<double> x(b.size(), 0.0);
    const Report plain = solve::cg<double>(A, nullptr, b, x, options);
    x.assign(b.size(), 0.0);
    const Report pipelined = run(A, nullptr, b, x, options);
    EXPECT_EQ(pipelined.outcome, plain.outcome) << pipelined.diagnosis;
    EXPECT_LE(pipelined.true_relative_residual,
              std::max(tolerance, 10 * plain.true_relative_residual));
  }
}

// Without replacement it takes 1.4 times the iterations here.
TEST(PipelinedCg, NeedsTheIterationsOfCg) {
  const GlobalIndex n = 1000;
  const comm::Layout layout = uniform(n);
  const solve::MatrixOperator<double> A(std::make_shared<const matrix::DistMatrix<double>>(
      matrix::matrix_from_rows<double>(layout, layout, [n](GlobalIndex i, const auto& emit) {
        for (GlobalIndex j = std::max<GlobalIndex>(i - 1, 0); j < std::min(i + 2, n); ++j) {
          emit(j, laplace(i, j));
        }
      })));
  const std::vector<double> b = hashed_vector(layout, 3);
  const Options options{.max_iterations = 3000, .stagnation_window = 0};
  std::vector<double> x(b.size(), 0.0);
  const int of_cg = solve::cg<double>(A, nullptr, b, x, options).iterations;
  x.assign(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x, options);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(report.iterations, of_cg + 10);
}

// A matrix that is not symmetric is a mistake of the caller, and not the limit of round-off.
TEST(PipelinedCg, SaysThatTheMatrixDoesNotSuitIt) {
  const comm::Layout layout = uniform(30);
  const Entry advection = [](GlobalIndex i, GlobalIndex j) {
    return i == j ? 1.0 : (j == i - 1 ? -1.0 : 0.0);
  };
  const auto A = make_operator(layout, advection);
  const std::vector<double> b = hashed_vector(layout, 5);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x);
  EXPECT_FALSE(report.converged());
  EXPECT_EQ(report.diagnosis.find("attainable"), std::string::npos) << report.diagnosis;
  EXPECT_NEAR(report.true_relative_residual, dense_residual(advection, b, x), 1e-9);
  expect_same_on_all_ranks(report);
}

// The reduction of an iteration runs beside the preconditioner and the product: the books have one
// reduction, and no other collective, between two products.
TEST(PipelinedCg, BooksItsReductions) {
  const comm::Layout layout = uniform(100);
  const auto A = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return laplace(i, j) + (i == j ? 1.0 : 0.0); });
  const std::vector<double> b = hashed_vector(layout, 4);
  const auto collectives = [&](int iterations) {
    std::vector<double> x(b.size(), 0.0);
    test_comm()->ledger().clear();
    run(A, nullptr, b, x, {.tolerance = 1e-12, .max_iterations = iterations});
    for (const mpi::Account& account : test_comm()->ledger().accounts()) {
      if (account.operation == "dot_products") return account.counts.collectives;
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(collectives(12) - collectives(2), 10);
}

}  // namespace solve_pipelined_cg_test
}  // namespace nodewise::test
