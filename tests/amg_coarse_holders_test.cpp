// Where the inverse of the coarsest matrix is held.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/amg/cycle/coarse_solver.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "mpi_counter.hpp"

namespace nodewise::amg {
namespace amg_coarse_holders_test {

using test::DenseMatrix;
using test::hashed;
using test::test_comm;

constexpr const char* places[] = {"auto", "every_rank", "every_node", "one_rank"};

/// Calls f(comm) for one node, nodes of two ranks, and nodes that take turns.
template <class F>
void for_each_placement(const F& f) {
  const int p = test_comm()->size();
  std::vector<int> one(static_cast<std::size_t>(p), 0), pairs, turns;
  for (int r = 0; r < p; ++r) {
    pairs.push_back(r / 2);
    turns.push_back(r % 2);
  }
  for (const auto& nodes : {one, pairs, turns}) f(mpi::Comm::create(MPI_COMM_WORLD, nodes));
}

TEST(CoarseHolders, SolveAlikeWhereverTheInverseIs) {
  const DenseMatrix values = test::random_symmetric(30, 0.3, 0.4, 3);
  const DenseMatrix b = values * hashed(30, 4);
  for_each_placement([&](const std::shared_ptr<const mpi::Comm>& comm) {
    for (const matrix::Layout& layout : test::layouts_of(comm, 30)) {
      const auto A = test::distribute(values, layout);
      for (const std::string place : places) {
        const CoarseSolver<double> solver(A, 1, place);
        EXPECT_FALSE(solver.singular());
        std::vector<double> x(static_cast<std::size_t>(layout.n_local()), 7.0);
        solver.solve(test::part_of(layout, b), x);
        const DenseMatrix r = values * test::gathered(layout.comm(), x) - b;
        EXPECT_LE(test::norm(r), 1e-10 * test::norm(b)) << place;
        std::vector<double> B, X(3 * x.size(), 5.0);
        for (const double value : test::part_of(layout, b)) B.insert(B.end(), {value, 0, -value});
        solver.solve(B, X, 3);
        for (std::size_t i = 0; i < x.size(); ++i) {
          EXPECT_NEAR(X[3 * i], x[i], 1e-12 * test::norm(b));
          EXPECT_EQ(X[3 * i + 1], 0.0);
          EXPECT_EQ(X[3 * i + 2], -X[3 * i]);
        }
      }
    }
  });
}

TEST(CoarseHolders, EveryRowIsHeldOnce) {
  for_each_placement([&](const std::shared_ptr<const mpi::Comm>& comm) {
    for (const matrix::Layout& layout : test::layouts_of(comm, 17)) {
      for (const std::string place : places) {
        CoarseHolders holders(layout, chosen(place));
        std::vector<int> sorted(holders.order().begin(), holders.order().end());
        std::sort(sorted.begin(), sorted.end());
        std::vector<int> all(17);
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(sorted, all);
        EXPECT_EQ(mpi::sum(*comm, std::int64_t{holders.n_held()}), 17);
        const bool alone = place == "one_rank" && !comm->is_root();
        const int node = comm->topology().node(comm->rank());
        const bool led =
            place == "every_node" && comm->topology().ranks_on(node).front() != comm->rank();
        if (alone || led) {
          EXPECT_EQ(holders.n_held(), 0);
        }
      }
    }
  });
}

/// Collective calls of MPI in a solve: one where every rank holds its rows, two on one rank, and
/// two or three by nodes.
TEST(CoarseHolders, CallsOfASolve) {
  const DenseMatrix values = test::random_symmetric(20, 0.3, 0.4, 3);
  for_each_placement([&](const std::shared_ptr<const mpi::Comm>& comm) {
    const auto layout = matrix::Layout::uniform(comm, 20);
    const auto A = test::distribute(values, layout);
    const std::vector<double> b(static_cast<std::size_t>(layout.n_local()), 1.0);
    std::vector<double> x(b.size());
    const auto calls = [&](const std::string& place) {
      const CoarseSolver<double> solver(A, 1, place);
      const std::vector<int> nodes(static_cast<std::size_t>(comm->size()), 0);
      return test::counted(nodes, [&] { solver.solve(b, x); }).collectives;
    };
    EXPECT_EQ(calls("every_rank"), 1);
    EXPECT_EQ(calls("one_rank"), 2);
    const int node = comm->topology().node(comm->rank());
    const bool leads = comm->topology().ranks_on(node).front() == comm->rank();
    EXPECT_EQ(calls("every_node"), leads ? 3 : 2);
  });
}

TEST(CoarseHolders, HierarchiesOfAllKindsConverge) {
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), {.problem = "laplace9", .n = 20}));
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::vector<int> iterations;
  for (const std::string place : places) {
    for (const Precision precision : {Precision::same, Precision::single}) {
      Options options;
      options.coarse_solve = place;
      options.precision = precision;
      const Hierarchy<double> hierarchy(A, options);
      EXPECT_EQ(hierarchy.levels().back().coarse_solver, "direct" + *chosen(place).place);
      std::vector<double> x(b.size(), 0.0);
      const auto report = solve::cg<double>(op, &hierarchy, b, x, {});
      EXPECT_EQ(report.outcome, solve::Outcome::converged);
      iterations.push_back(report.iterations);
    }
  }
  EXPECT_LE(*std::max_element(iterations.begin(), iterations.end()),
            *std::min_element(iterations.begin(), iterations.end()) + 1);
  Options options;
  options.coarse_solve = "relaxation";
  const Hierarchy<double> relaxed(A, options);
  EXPECT_EQ(relaxed.levels().back().coarse_solver, "4 symmetric sweeps");
  std::vector<double> x(b.size(), 0.0);
  EXPECT_TRUE(solve::cg<double>(op, &relaxed, b, x, {}).converged());
}

}  // namespace amg_coarse_holders_test
}  // namespace nodewise::amg
