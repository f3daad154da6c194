// A rank that fails in any piece of local work: all ranks throw the same, or none does.
#include <algorithm>
#include <new>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "collective_error.hpp"
#include "support.hpp"

namespace nodewise::amg {
namespace amg_redistribution_failure_test {

using test::test_comm;

using Matrix = std::shared_ptr<const matrix::DistMatrix<double>>;

std::int64_t pieces = 0, failing_piece = 0;

void count_piece() {
  if (++pieces == failing_piece) throw std::bad_alloc();
}

/// While it lives, pieces of local work are counted, and the n-th fails; 0: none does.
class FailingPiece {
 public:
  explicit FailingPiece(std::int64_t n) {
    pieces = 0;
    failing_piece = n;
    mpi::detail::before_local_work = count_piece;
  }
  ~FailingPiece() { mpi::detail::before_local_work = nullptr; }
  FailingPiece(const FailingPiece&) = delete;
  FailingPiece& operator=(const FailingPiece&) = delete;
};

/// Collective. Expects that ranks which fail do so together, with the same text; returns whether
/// they did.
bool fails_together(const std::optional<Error>& error) {
  const mpi::Comm& comm = *test_comm();
  const std::int64_t failed = mpi::sum(comm, std::int64_t{error ? 1 : 0});
  EXPECT_TRUE(failed == 0 || failed == comm.size()) << failed << " ranks failed";
  if (failed == 0) return false;
  const std::string text = error ? error->what() : "";
  const auto print = static_cast<std::int64_t>(std::hash<std::string>{}(text) >> 1);
  EXPECT_EQ(mpi::min(comm, print), mpi::max(comm, print)) << text;
  return true;
}

/// Collective. Has some pieces of `work` fail, on one rank after another, every time other ones;
/// calls `after_failure` where that was an error.
template <class Work, class AfterFailure>
void expect_together(const Work& work, const AfterFailure& after_failure) {
  constexpr std::int64_t tries = 12;
  static std::int64_t calls = 0;
  ++calls;
  const mpi::Comm& comm = *test_comm();
  std::int64_t n_pieces = 0;
  {
    const FailingPiece none(0);
    work();
    n_pieces = pieces;
  }
  EXPECT_GT(n_pieces, 0);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t all = mpi::broadcast(comm, n_pieces, rank);
    const std::int64_t step = std::max<std::int64_t>(1, all * comm.size() / tries);
    for (std::int64_t n = 1 + (5 * calls + 3 * rank) % step; n <= all; n += step) {
      SCOPED_TRACE(testing::Message() << "piece " << n << " of " << all << " on rank " << rank);
      std::optional<Error> error;
      {
        const FailingPiece failing(comm.rank() == rank ? n : 0);
        error = test::error_of(work);
      }
      if (fails_together(error)) after_failure();
    }
  }
}

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
