// No iteration asks for memory: what it needs is there when the first one begins.
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "allocation_counter.hpp"
#include "smoother_support.hpp"
#include "support.hpp"

namespace nodewise {
namespace solve_allocation_test {

using Matrix = std::shared_ptr<const matrix::DistMatrix<double>>;

/// Collective. The calls of operator new between the second iteration and the last but one, of all
/// ranks, where solve(options, observer) solves.
template <class Solve>
std::int64_t allocations_between_iterations(const Matrix& A, Solve&& solve) {
  solve::Options settings;
  settings.tolerance = 1e-15;
  settings.max_iterations = 6;  // GMRES makes room for eight vectors at a time
  std::int64_t first = -1;
  std::int64_t last = -1;
  const auto watch = [&](int iteration, double) {
    if (iteration < 2 || iteration == settings.max_iterations) return;  // whose diagnosis is text
    last = test::allocations();
    if (first < 0) first = last;
  };
  solve(settings, watch);
  EXPECT_GE(first, 0) << "too few iterations to tell";
  return mpi::sum(A->comm(), last - first);
}

std::int64_t allocations_in_iterations(const Matrix& A, const amg::Options& options,
                                       const char* method) {
  const amg::Hierarchy<double> hierarchy(A, options);
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::vector<double> x(b.size(), 0.0);
  return allocations_between_iterations(A, [&](const solve::Options& settings, auto&& watch) {
    solve::solve_by<double>(method, op, &hierarchy, b, x, settings, watch);
  });
}

/// The same for several right-hand sides at once.
std::int64_t allocations_of_several(const Matrix& A, const amg::Options& options) {
  constexpr int width = 3;
  const amg::Hierarchy<double> hierarchy(A, options);
  const solve::MatrixOperator<double> op(A);
  std::vector<double> B(width * static_cast<std::size_t>(A->n_local()), 1.0);
  for (std::size_t k = 0; k < B.size(); k += width) B[k] = static_cast<double>(k % 7);
  std::vector<double> X(B.size(), 0.0);
  return allocations_between_iterations(A, [&](const solve::Options& settings, auto&& watch) {
    solve::simultaneous_cg<double>(op, &hierarchy, B, X, width, settings, watch);
  });
}

TEST(Allocations, NoneInAnIteration) {
  if (!test::counts_allocations()) GTEST_SKIP() << "the sanitizers have operator new";
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test::test_comm(), {.problem = "rotated_fe", .n = 24}));
  for (const char* method : {"cg", "flexible_cg", "pipelined_cg", "minres", "gmres", "fgmres",
                             "bicgstab", "idr", "stationary"}) {
    EXPECT_EQ(allocations_in_iterations(A, {}, method), 0) << method;
  }
  for (const std::string smoother : {"gauss_seidel", "l1_jacobi", "jacobi", "chebyshev", "ilu0"}) {
    amg::Options options;
    options.smoother = smoother;
    EXPECT_EQ(allocations_in_iterations(A, options, "cg"), 0) << "smoother " << smoother;
  }
  for (const amg::Precision precision : {amg::Precision::same, amg::Precision::single}) {
    amg::Options options;
    amg::set_order(options, amg::SweepOrder::coarse_fine);
    options.precision = precision;
    EXPECT_EQ(allocations_in_iterations(A, options, "cg"), 0) << "coarse points first";
  }
  for (const std::string cycle : {"w", "f", "k", "additive"}) {
    for (const amg::Precision precision : {amg::Precision::same, amg::Precision::single}) {
      amg::Options options;
      options.cycle = cycle;
      options.precision = precision;
      EXPECT_EQ(allocations_in_iterations(A, options, "flexible_cg"), 0) << "cycle " << cycle;
    }
  }
  for (const comm::Route route : {"two_step", "three_step"}) {
    amg::Options options;
    options.route = route;
    EXPECT_EQ(allocations_in_iterations(A, options, "cg"), 0) << "route " << route.name();
  }
}

TEST(Allocations, NoneInAnIterationOfSeveralRightHandSides) {
  if (!test::counts_allocations()) GTEST_SKIP() << "the sanitizers have operator new";
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test::test_comm(), {.problem = "rotated_fe", .n = 24}));
  for (const std::string smoother : {"l1_gauss_seidel", "l1_jacobi", "chebyshev", "ilu0",
                                     "l1_block_gauss_seidel", "block_jacobi"}) {
    amg::Options options;
    options.smoother = smoother;
    options.unknowns = 2;  // of which the blocks are not full: one of the block smoothers' cases
    EXPECT_EQ(allocations_of_several(A, options), 0) << "smoother " << smoother;
  }
  amg::Options coarse_first;
  amg::set_order(coarse_first, amg::SweepOrder::coarse_fine);
  EXPECT_EQ(allocations_of_several(A, coarse_first), 0) << "coarse points first";
  for (const std::string cycle : {"w", "additive"}) {
    amg::Options options;
    options.cycle = cycle;
    options.precision = amg::Precision::single;
    amg::set_order(options, amg::SweepOrder::symmetric);
    EXPECT_EQ(allocations_of_several(A, options), 0) << "cycle " << cycle;
  }
}

}  // namespace solve_allocation_test
}  // namespace nodewise
