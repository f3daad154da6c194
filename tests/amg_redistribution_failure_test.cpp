// A rank that fails in any piece of local work: all ranks throw the same, or none does.
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "collective_error.hpp"
#include "failing_piece.hpp"
#include "support.hpp"

namespace nodewise::amg {
namespace amg_redistribution_failure_test {

using test::expect_together;
using test::test_comm;

using Matrix = std::shared_ptr<const matrix::DistMatrix<double>>;

std::shared_ptr<const mpi::Comm> pairs() {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 2);
  return mpi::Comm::create(MPI_COMM_WORLD, nodes);
}

/// Calls f(options, their name) for hierarchies that are moved in all ways.
template <class F>
void for_hierarchies(const F& f) {
  for (const std::string method : {"classical", "aggregation", "air"}) {
    for (const MoveMethod& move : MoveMethod::family()) {
      for (const char* groups : {"node", "graph"}) {
        for (const bool redundant : {false, true}) {
          const GroupMethod& by = GroupMethod::family().find(groups);
          if (!(*by.is_available)() || (redundant && move.moves_vectors)) continue;
          Options options;
          options.max_coarse_rows = 10;
          options.set("method", method).set("redistribution", "ranks").set("active_ranks", "2,1");
          options.redistribution_move = move;
          options.redistribution_groups = by;
          options.set("redundant", redundant);
          SCOPED_TRACE(method + ", " + *move.name + ", " + groups + (redundant ? ", copied" : ""));
          f(options);
        }
      }
    }
  }
}

Matrix problem(const std::shared_ptr<const mpi::Comm>& comm) {
  return std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(comm, {.problem = "laplace9", .n = 13}));
}

std::vector<double> one_cycle(const Hierarchy<double>& hierarchy) {
  std::vector<double> b(static_cast<std::size_t>(hierarchy.layout().n_local()), 1), x(b.size(), 0);
  hierarchy.apply(b, x);
  return x;
}

TEST(RedistributionFailure, OfASetupIsThatOfAllRanks) {
  const Matrix A = problem(pairs());
  for_hierarchies([&](const Options& options) {
    expect_together([&] { Hierarchy<double>(A, options); }, [] {});
  });
}

/// Calls f(options) for hierarchies that costs decide about.
template <class F>
void for_choices_by_costs(const F& f) {
  model::Machine machine;
  machine.path(model::Locality::same_node)[0] = model::MessageParameters{1e-9, 1e12};
  machine.path(model::Locality::other_node)[0] = model::MessageParameters{1e-4, 1e12};
  machine.s_per_flop_by_level = {1e-11};
  for (const std::string method : {"classical", "aggregation"}) {
    for (const std::string redistribution : {"none", "automatic"}) {
      SCOPED_TRACE(method + ", redistribution " + redistribution);
      Options options;
      options.max_coarse_rows = 10;
      options.set("method", method).set("redistribution", redistribution);
      options.set("sparsification", "automatic");
      options.machine = std::make_shared<const model::Machine>(machine);
      f(options);
    }
  }
}

TEST(RedistributionFailure, OfAChoiceByCostsIsThatOfAllRanks) {
  const Matrix A = problem(pairs());
  for_choices_by_costs([&](const Options& options) {
    expect_together([&] { Hierarchy<double>(A, options); }, [] {});
  });
}

TEST(RedistributionFailure, OfARebuildLeavesAllAsItWas) {
  const Matrix A = problem(pairs());
  for_hierarchies([&](const Options& options) {
    for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
      Hierarchy<double> hierarchy(A, options);
      const std::vector<double> before = one_cycle(hierarchy);
      expect_together([&] { hierarchy.rebuild(A, reuse); },
                      [&] { EXPECT_EQ(before, one_cycle(hierarchy)); });
      hierarchy.rebuild(A, reuse);
      EXPECT_EQ(before, one_cycle(hierarchy));
    }
  });
}

TEST(RedistributionFailure, OfASolveIsThatOfAllRanks) {
  const Matrix A = problem(pairs());
  const solve::MatrixOperator<double> product(A);
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1);
  for_hierarchies([&](const Options& options) {
    const Hierarchy<double> hierarchy(A, options);
    expect_together(
        [&] {
          std::vector<double> x(b.size(), 0);
          solve::solve_by<double>("gmres", product, &hierarchy, b, x, solve::Options{}, {});
        },
        [] {});
  });
}

}  // namespace amg_redistribution_failure_test
}  // namespace nodewise::amg
