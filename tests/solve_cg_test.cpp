// Conjugate gradients: the answer, the stopping test, every way to fail, the number of reductions.
#include <gtest/gtest.h>

#include "nodewise/solve/asymmetry.hpp"

#include "solve_support.hpp"

namespace nodewise::test {
namespace {

using solve::Options;
using solve::Outcome;
using solve::Report;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Report run_cg(const solve::Operator<double>& A, const solve::Operator<double>* M,
              const std::vector<double>& b, std::vector<double>& x, const Options& options = {}) {
  return solve::cg<double>(A, M, b, x, options);
}

/// Every rank has the same report, but for the time.
void expect_same_on_all_ranks(const Report& report) {
  const mpi::Comm& comm = *test_comm();
  const auto outcome = static_cast<std::int32_t>(report.outcome);
  EXPECT_EQ(mpi::min(comm, outcome), mpi::max(comm, outcome));
  EXPECT_EQ(mpi::min(comm, report.iterations), mpi::max(comm, report.iterations));
  EXPECT_EQ(mpi::broadcast(comm, report.diagnosis, 0), report.diagnosis);
}

TEST(Cg, SolvesTheLaplacianToTheTolerance) {
  const comm::Layout layout = uniform(37);
  const auto A = make_operator(layout, laplace);
  const std::vector<double> b = hashed_vector(layout, 1);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run_cg(A, nullptr, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged);
  EXPECT_EQ(report.diagnosis, "");
  EXPECT_LE(report.iterations, 40);
  EXPECT_LE(dense_residual(laplace, b, x), 1e-8);
  EXPECT_NEAR(report.true_relative_residual, dense_residual(laplace, b, x), 1e-14);
  EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
  EXPECT_EQ(report.history.front(), 1.0);
  EXPECT_EQ(report.history.back(), report.true_relative_residual);
  expect_same_on_all_ranks(report);
}

}  // namespace
}  // namespace nodewise::test
