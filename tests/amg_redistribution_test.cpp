// Coarse levels on fewer ranks: the same levels, other owners.
#include <algorithm>
#include <limits>
#include <numeric>
#include <ostream>
#include <set>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/redistribute/copy_holders.hpp"
#include "nodewise/amg/redistribute/copy_traffic.hpp"
#include "nodewise/amg/redistribute/rank_groups.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "cycle_support.hpp"
#include "support.hpp"

namespace nodewise::amg {
namespace amg_redistribution_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::gathered;
using test::one_cycle;
using test::test_comm;

using Matrix = std::shared_ptr<const DistMatrix<double>>;

Matrix shared(DistMatrix<double> A) {
  return std::make_shared<const DistMatrix<double>>(std::move(A));
}

/// With it a hierarchy is the same on any number of ranks, but for round-off.
Options options_of(const std::string& method) {
  Options options;
  options.max_coarse_rows = 4;
  options.set("method", method);
  if (method == "aggregation") {
    options.set("aggregates", "independent_set");
  } else {
    options.set("coarsening", "pmis");
  }
  options.set("smoother", method == "air" ? "fc_jacobi" : "jacobi");
  return options;
}

/// How levels get to fewer ranks.
struct Form {
  Choice<MoveMethod> move;
  bool redundant = false;
};

/// All ways to move rows, and copies, which are for the first of these only.
std::vector<Form> forms() {
  std::vector<Form> forms = {{.move = {}, .redundant = true}};
  for (const MoveMethod& move : MoveMethod::family()) forms.push_back({move, false});
  return forms;
}

std::ostream& operator<<(std::ostream& out, const Form& form) {
  return out << form.move.name() << (form.redundant ? ", redundant" : "");
}

/// All ways to put ranks in groups that this build has.
std::vector<Choice<GroupMethod>> all_groups() {
  std::vector<Choice<GroupMethod>> all;
  for (const GroupMethod& groups : GroupMethod::family()) {
    if ((*groups.is_available)()) all.push_back(groups);
  }
  return all;
}

Options moved(Options options, const char* ranks, const Form& form = {}) {
  options.set("redistribution", "ranks");
  options.set("active_ranks", ranks);
  options.set("redundant", form.redundant);
  options.redistribution_move = form.move;
  return options;
}

const Form& copies() {
  static const Form form = {.move = {}, .redundant = true};
  return form;
}

/// Two ranks on each node, so that levels on one rank may be copied.
std::shared_ptr<const mpi::Comm> pairs() {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 2);
  return mpi::Comm::create(MPI_COMM_WORLD, nodes);
}

std::vector<int> active_ranks(const Hierarchy<double>& hierarchy) {
  std::vector<int> ranks;
  for (const LevelInfo& info : hierarchy.levels()) ranks.push_back(info.active_ranks);
  return ranks;
}

/// Collective. Expects both to have the same matrices, and cycles, up to round-off.
void expect_same_hierarchy(const Hierarchy<double>& a, const Hierarchy<double>& b) {
  ASSERT_EQ(a.levels().size(), b.levels().size());
  for (std::size_t l = 0; l < a.levels().size(); ++l) {
    SCOPED_TRACE(testing::Message() << "level " << l);
    EXPECT_EQ(a.levels()[l].rows, b.levels()[l].rows);
    EXPECT_EQ(a.levels()[l].nonzeros, b.levels()[l].nonzeros);
    const test::DenseMatrix A = gathered(*a.matrix(l)), B = gathered(*b.matrix(l));
    double largest = 0, difference = 0;
    for (std::size_t k = 0; k < A.size(); ++k) {
      largest = std::max(largest, std::abs(A.data()[k]));
      difference = std::max(difference, std::abs(A.data()[k] - B.data()[k]));
    }
    EXPECT_LE(difference, 1e-12 * largest);
  }
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-11);
}

/// The ranks of levels 1 and 2 where the numbers are `first` and then one.
void expect_ranks(const Hierarchy<double>& hierarchy, int first) {
  const std::vector<int> ranks = active_ranks(hierarchy);
  ASSERT_GE(ranks.size(), 3U);
  EXPECT_EQ(ranks[1], std::min(first, ranks[0]));
  for (std::size_t l = 2; l < ranks.size(); ++l) EXPECT_EQ(ranks[l], 1);
}

/// Calls f(method, A, nodes of the ranks) for every method, with a matrix that suits it on every
/// map.
template <class F>
void for_maps_and_methods(const F& f) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (const std::string method : {"classical", "aggregation", "air"}) {
      SCOPED_TRACE(map.name + ", " + method);
      const char* problem = method == "air" ? "convection2d" : "laplace9";
      f(method, shared(io::generate<double>(comm, {.problem = problem, .n = 21})),
        map.node_of_rank);
    }
  }
}

TEST(Redistribution, LevelsAreTheSameOnFewerRanks) {
  for_maps_and_methods(
      [](const std::string& method, const Matrix& A, const std::vector<int>& node_of_rank) {
        const Hierarchy<double> there(A, options_of(method));
        for (const MoveMethod& move : MoveMethod::family()) {
          SCOPED_TRACE(*move.name);
          const Hierarchy<double> fewer(A, moved(options_of(method), "3,1", {move}));
          expect_ranks(fewer, 3);
          // Ranks that do not follow each other number their rows anew.
          const bool keeps_numbers = std::is_sorted(node_of_rank.begin(), node_of_rank.end());
          if (keeps_numbers) {
            expect_same_hierarchy(there, fewer);
            expect_near(one_cycle(there), one_cycle(fewer));
          }
          EXPECT_EQ(there.levels()[1].rows, fewer.levels()[1].rows);
        }
      });
}

TEST(Redistribution, EveryNodeHasACopyOfALevelOnOneRank) {
  for_maps_and_methods([](const std::string& method, const Matrix& A, const std::vector<int>&) {
    const Hierarchy<double> moved_once(A, moved(options_of(method), "3,1"));
    const Hierarchy<double> copied(A, moved(options_of(method), "3,1", copies()));
    expect_ranks(copied, 3);
    expect_same_hierarchy(moved_once, copied);
    // Of level 1 on three ranks, those have the copies of the levels below.
    const mpi::Topology& topology = A->comm().topology();
    const int first = copied.levels()[1].active_ranks;
    EXPECT_GE(copied.levels().back().copies, first > 1 ? 1 : topology.n_nodes());
    EXPECT_LE(copied.levels().back().copies, topology.n_nodes());
    expect_near(one_cycle(moved_once), one_cycle(copied));
  });
}

TEST(Redistribution, NothingCrossesTheNetworkFromCopies) {
  const auto comm = pairs();
  const Matrix A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 25}));
  const Hierarchy<double> copied(A, moved(options_of("classical"), "1", copies()));
  ASSERT_GE(copied.levels().size(), 3U);
  EXPECT_EQ(copied.levels()[1].copies, comm->topology().n_nodes());
  comm->ledger().clear();
  one_cycle(copied);
  for (const mpi::Account& account : comm->ledger().accounts()) {
    if (account.operation == "prolongation" || account.level > 0) {
      EXPECT_EQ(account.counts.messages_off_node, 0) << account.operation;
    }
  }
}

TEST(Redistribution, CollectiveMovesAreNotForVirtualRanks) {
  const Matrix A = shared(io::generate<double>(test::self_comm(), {.problem = "laplace5", .n = 8}));
  ProblemInfo<double> info;
  info.virtual_starts = {0, 20, 40, 64};
  info.virtual_topology = std::make_shared<const mpi::Topology>(std::vector<int>{0, 0, 1});
  test::expect_same_error(*test_comm(), ErrorCode::unsupported, [&] {
    Hierarchy<double>(A, moved(options_of("classical"), "1", {"collective"}), info);
  });
}

TEST(Redistribution, CopiesAreNotMovedCollectively) {
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "laplace5", .n = 8}));
  test::expect_same_error(*test_comm(), ErrorCode::unsupported, [&] {
    Hierarchy<double>(A, moved(options_of("classical"), "1", {"collective", true}));
  });
}

/// Local. What this rank sent in an operation.
mpi::Counts counts_of(const std::vector<mpi::Account>& accounts, const std::string& operation) {
  mpi::Counts sum;
  for (const mpi::Account& account : accounts) {
    if (account.operation == operation) sum += account.counts;
  }
  return sum;
}

TEST(Redistribution, CollectiveMovesSendWhatLevelsSay) {
  const auto comm = pairs();
  const Matrix A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 25}));
  for (const comm::Route route : comm::RouteMethod::family()) {
    SCOPED_TRACE(route.name());
    Options options = moved(options_of("classical"), "3,1", {"collective"});
    options.route = route;
    const Hierarchy<double> hierarchy(A, options);
    std::int64_t on_node = 0, off_node = 0, entries = 0;
    for (const LevelInfo& info : hierarchy.levels()) {
      on_node += info.gather_traffic.messages_on_node;
      off_node += info.gather_traffic.messages_off_node;
      entries += info.gather_traffic.entries_on_node + info.gather_traffic.entries_off_node;
    }
    EXPECT_EQ(on_node + off_node > 0, comm->size() > 1);
    comm->ledger().clear();
    one_cycle(hierarchy);
    const mpi::Counts sent = counts_of(comm->ledger().accounts(), "redistribution");
    EXPECT_EQ(mpi::sum(*comm, sent.messages_on_node), 2 * on_node);
    EXPECT_EQ(mpi::sum(*comm, sent.messages_off_node), 2 * off_node);
    const auto bytes = static_cast<std::int64_t>(sizeof(double));
    EXPECT_EQ(mpi::sum(*comm, sent.bytes_on_node + sent.bytes_off_node), 2 * bytes * entries);
  }
}

TEST(Redistribution, MovesOfAllKindsTakeTheSameIterations) {
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "laplace9", .n = 25}));
  const solve::MatrixOperator<double> product(A);
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1);
  std::vector<int> iterations;
  for (const MoveMethod& move : MoveMethod::family()) {
    Options options = moved(options_of("classical"), "3,1", {move});
    options.smoother = "l1_gauss_seidel";
    const Hierarchy<double> hierarchy(A, options);
    std::vector<double> x(b.size(), 0);
    iterations.push_back(
        solve::solve_by<double>("cg", product, &hierarchy, b, x, solve::Options{}, {}).iterations);
  }
  for (const int n : iterations) EXPECT_EQ(n, iterations.front());
}

TEST(Redistribution, GoesOverEveryRoute) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Matrix A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 19}));
    for (const Form& form : forms()) {
      const char* ranks = form.redundant ? "1" : "2";
      const Hierarchy<double> straight(A, moved(options_of("classical"), ranks));
      for (const comm::Route route : comm::RouteMethod::family()) {
        SCOPED_TRACE(testing::Message() << map.name << ", " << route.name() << ", " << form);
        Options options = moved(options_of("classical"), ranks, form);
        options.route = route;
        const Hierarchy<double> routed(A, options);
        expect_same_hierarchy(straight, routed);
        expect_near(one_cycle(straight), one_cycle(routed));
      }
    }
  }
}

TEST(Redistribution, KnowsUnknownsAndNearNullSpaces) {
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "beam", .n = 2}));
  for (const char* method : {"classical", "aggregation"}) {
    SCOPED_TRACE(method);
    Options options = options_of(method);
    options.unknowns = 3;
    options.max_coarse_rows = 12;
    const Hierarchy<double> there(A, options);
    for (const Form& form : forms()) {
      SCOPED_TRACE(testing::Message() << form);
      const Hierarchy<double> fewer(A, moved(options, form.redundant ? "1" : "2,1", form));
      EXPECT_EQ(active_ranks(fewer)[1], form.redundant ? 1 : std::min(2, test_comm()->size()));
      expect_same_hierarchy(there, fewer);
      expect_near(one_cycle(there), one_cycle(fewer));
    }
  }
}

TEST(Redistribution, RebuildsToTheSameBits) {
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "laplace9", .n = 21}));
  const auto expect_same_bits = [&](const Options& options, Reuse reuse) {
    const Hierarchy<double> first(A, options);
    Hierarchy<double> again(A, options);
    Array<double> on = A->on().vals, off = A->off().vals;
    for (double& value : on) value *= 3;
    for (double& value : off) value *= 3;
    again.rebuild(shared(A->with_values(std::move(on), std::move(off))), reuse);
    again.rebuild(A, reuse);
    EXPECT_EQ(one_cycle(first), one_cycle(again));
    EXPECT_EQ(active_ranks(first), active_ranks(again));
  };
  for (const char* method : {"classical", "aggregation", "air"}) {
    SCOPED_TRACE(method);
    for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
      for (const Form& form : forms()) {
        SCOPED_TRACE(testing::Message() << form);
        expect_same_bits(moved(options_of(method), "3,1", form), reuse);
        Options routed = moved(options_of(method), "3,1", form);
        routed.route = "three_step";
        routed.precision = Precision::single;
        expect_same_bits(routed, reuse);
      }
    }
  }
}

TEST(Redistribution, ByRowsOfARank) {
  const Matrix A = shared(io::generate<double>(test_comm(), {.problem = "laplace9", .n = 30}));
  Options options = options_of("classical");
  options.set("redistribution", "rows").set("rows_per_rank", 40);
  const Hierarchy<double> hierarchy(A, options);
  int before = test_comm()->size();
  for (std::size_t l = 1; l < hierarchy.levels().size(); ++l) {
    const LevelInfo& info = hierarchy.levels()[l];
    const auto wanted = std::max<GlobalIndex>(1, std::min<GlobalIndex>(before, info.rows / 40));
    EXPECT_EQ(info.active_ranks, wanted);
    before = info.active_ranks;
  }
}

TEST(Redistribution, RanksWithoutRowsAreOrdinary) {
  const auto comm = test_comm();
  // All rows but on rank 0.
  std::vector<GlobalIndex> starts = comm::uniform_starts(361, std::max(1, comm->size() - 1));
  if (comm->size() > 1) starts.insert(starts.begin(), 0);
  const Layout rows(comm, starts);
  const test::DenseMatrix whole =
      gathered(io::generate<double>(test::self_comm(), {.problem = "laplace9", .n = 19}));
  const Matrix A = shared(test::distribute(whole, rows));
  const Hierarchy<double> there(A, options_of("classical"));
  for (const Form& form : forms()) {
    SCOPED_TRACE(testing::Message() << form);
    const Hierarchy<double> fewer(A, moved(options_of("classical"), "2,1", form));
    expect_same_hierarchy(there, fewer);
    expect_near(one_cycle(there), one_cycle(fewer));
  }
}

TEST(Redistribution, CyclesOfAllKindsAreTheSameOnFewerRanks) {
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "laplace9", .n = 31}));
  const int width = 3;
  const auto n = static_cast<std::size_t>(A->n_local());
  std::vector<double> B, X(n * width), Y(n * width), work(2 * n);
  for (std::size_t i = 0; i < n * width; ++i) B.push_back(hash_uniform(i, 5) - 0.5);
  for (const CycleMethod& cycle : CycleMethod::family()) {
    for (const Precision precision : {Precision::same, Precision::single, Precision::automatic}) {
      SCOPED_TRACE(*cycle.name + ", precision " + std::to_string(static_cast<int>(precision)));
      Options options = options_of("classical");
      options.cycle = cycle;
      options.precision = precision;
      const Hierarchy<double> there(A, options);
      const double bound = there.precision().single ? 1e-4 : 1e-10;
      there.apply_block(B, X, width, work);
      for (const Form& form : forms()) {
        SCOPED_TRACE(testing::Message() << form);
        const Hierarchy<double> fewer(A, moved(options, "3,1", form));
        EXPECT_EQ(there.precision().single, fewer.precision().single);
        const std::vector<double> x = one_cycle(there), y = one_cycle(fewer);
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(x[i], y[i], bound);
        fewer.apply_block(B, Y, width, work);
        for (std::size_t i = 0; i < X.size(); ++i) EXPECT_NEAR(X[i], Y[i], bound);
      }
    }
  }
}

/// Local. What this rank did on levels from `level` on.
mpi::Counts counts_from(const std::vector<mpi::Account>& accounts, int level) {
  mpi::Counts sum;
  for (const mpi::Account& account : accounts) {
    if (account.level >= level) sum += account.counts;
  }
  return sum;
}

TEST(Redistribution, RanksWithoutRowsDoNothing) {
  const auto comm = test_comm();
  const Matrix A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 25}));
  mpi::Ledger& ledger = comm->ledger();
  for (const MoveMethod& move : MoveMethod::family()) {
    SCOPED_TRACE(*move.name);
    ledger.clear();
    const Hierarchy<double> hierarchy(A, moved(options_of("classical"), "2", {move}));
    ASSERT_GE(hierarchy.levels().size(), 3U);
    const auto in_setup = ledger.accounts();
    ledger.clear();
    one_cycle(hierarchy);
    const auto in_cycle = ledger.accounts();
    if (hierarchy.matrix(1)->n_local() > 0) continue;
    for (const auto& accounts : {in_setup, in_cycle}) {
      const mpi::Counts counts = counts_from(accounts, 1);
      EXPECT_EQ(counts.messages(), 0);
      EXPECT_EQ(counts.collectives, 0);
    }
  }
}

TEST(Redistribution, AFailureOfSomeRanksIsThatOfAll) {
  // The coarse matrices overflow, which those find who solve with the last one.
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "laplace27", .n = 9}));
  const auto scaled = [&](double factor) {
    Array<double> on = A->on().vals, off = A->off().vals;
    for (double& value : on) value *= factor;
    for (double& value : off) value *= factor;
    return shared(A->with_values(std::move(on), std::move(off)));
  };
  const double most = std::numeric_limits<double>::max() / 27;
  for (const Form& form : forms()) {
    SCOPED_TRACE(testing::Message() << form);
    const Options options = moved(options_of("classical"), "2,1", form);
    test::expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                            [&] { Hierarchy<double>(scaled(most), options); });
    Hierarchy<double> hierarchy(A, options);
    const std::vector<double> before = one_cycle(hierarchy);
    for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
      test::expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                              [&] { hierarchy.rebuild(scaled(most), reuse); });
      EXPECT_EQ(before, one_cycle(hierarchy));
    }
  }
}

TEST(Redistribution, ObserversOnAllRanksSeeAllLevels) {
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "laplace9", .n = 21}));
  for (const Form& form : forms()) {
    std::vector<GlobalIndex> rows;
    const Hierarchy<double> hierarchy(A, moved(options_of("classical"), "2,1", form),
                                      [&](int level, const LevelInfo& info) {
                                        EXPECT_EQ(static_cast<std::size_t>(level), rows.size());
                                        rows.push_back(info.rows);
                                      });
    ASSERT_EQ(rows.size(), hierarchy.levels().size());
    for (std::size_t l = 0; l < rows.size(); ++l) EXPECT_EQ(rows[l], hierarchy.levels()[l].rows);
    EXPECT_EQ(hierarchy.levels().back().coarse_solver.substr(0, 6), "direct");
  }
}

TEST(Redistribution, MatricesAreSeenByAllRanks) {
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "laplace9", .n = 21}));
  for (const Form& form : forms()) {
    for (const std::string method : {"classical", "air"}) {
      Options options = moved(options_of(method), form.redundant ? "1" : "3,2,1", form);
      if (method == "air") options.set("coarse_filter", 0);
      const Hierarchy<double> hierarchy(A, options);
      for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
        SCOPED_TRACE(testing::Message() << method << ", level " << l << ", " << form);
        const Matrix fine = hierarchy.matrix(l), coarse = hierarchy.matrix(l + 1);
        const DistMatrix<double>& P = *hierarchy.interpolation(l);
        const DistMatrix<double>* R = hierarchy.restriction(l);
        EXPECT_EQ(R != nullptr, method == "air");
        const DistMatrix<double> AP = matrix::multiply(*fine, P);
        const DistMatrix<double> product = matrix::multiply(R ? *R : matrix::transpose(P), AP);
        const test::DenseMatrix C = gathered(*coarse), D = gathered(product);
        ASSERT_EQ(C.size(), D.size());
        for (std::size_t k = 0; k < C.size(); ++k) EXPECT_NEAR(C.data()[k], D.data()[k], 1e-10);
      }
    }
  }
}

TEST(Redistribution, SmoothersOfAllKindsSolve) {
  const Matrix A = shared(io::generate<double>(pairs(), {.problem = "laplace9", .n = 25}));
  const auto expect_to_solve = [&](const Options& options) {
    const Hierarchy<double> hierarchy(A, options);
    const auto n = static_cast<std::size_t>(A->n_local());
    std::vector<double> b(n, 1), x(n, 0);
    const solve::MatrixOperator<double> product(A);
    const solve::Report report =
        solve::solve_by<double>("gmres", product, &hierarchy, b, x, solve::Options{}, {});
    EXPECT_EQ(report.outcome, solve::Outcome::converged);
    EXPECT_LE(report.iterations, 40);
  };
  for (const relax::SmootherMethod& smoother : relax::SmootherMethod::family()) {
    SCOPED_TRACE(*smoother.name);
    Options options = options_of("classical");
    options.smoother = smoother;
    for (const Form& form : forms()) {
      expect_to_solve(moved(options, form.redundant ? "1" : "2,1", form));
    }
  }
}

/// Collective. Expects the virtual ranks to send what the real ones of a level do.
void expect_same_counts(const Hierarchy<double>& alone, const Hierarchy<double>& real) {
  const mpi::Topology& topology = real.layout().comm().topology();
  ASSERT_EQ(alone.levels().size(), real.levels().size());
  for (std::size_t l = 0; l < alone.levels().size(); ++l) {
    SCOPED_TRACE(testing::Message() << "level " << l);
    EXPECT_EQ(alone.levels()[l].copies, real.levels()[l].copies);
    const auto span = alone.virtual_starts(l);
    const std::vector<GlobalIndex> starts(span.begin(), span.end());
    const Layout rows = real.matrix(l)->rows();
    EXPECT_EQ(starts, std::vector<GlobalIndex>(rows.starts().begin(), rows.starts().end()));
    const auto& A = alone.matrix(l)->on();
    auto patterns = comm::virtual_patterns(starts, matrix::virtual_ghosts(A, starts, starts));
    const auto plans = comm::virtual_plans(std::move(patterns), topology, "direct");
    std::int64_t messages = 0, entries = 0;
    for (const comm::Traffic& t : comm::virtual_traffic(plans, topology)) {
      messages += t.messages_on_node + t.messages_off_node;
      entries += t.entries_on_node + t.entries_off_node;
    }
    const comm::Traffic& sent = real.levels()[l].traffic;
    EXPECT_EQ(messages, sent.messages_on_node + sent.messages_off_node);
    EXPECT_EQ(entries, sent.entries_on_node + sent.entries_off_node);
  }
}

TEST(Redistribution, OfVirtualRanksIsThatOfRealOnes) {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 3);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
  const io::GalleryOptions gallery = {.problem = "rotated_fe", .n = 21};
  const Matrix A = shared(io::generate<double>(comm, gallery));
  const Matrix serial = shared(io::generate<double>(test::self_comm(), gallery));
  Options options = options_of("classical");
  options.set("max_interpolation_entries", 0);  // which of equal weights is dropped may differ
  for (const GroupMethod& groups : GroupMethod::family()) {
    if (groups.needs_couplings) continue;
    options.redistribution_groups = groups;
    for (const char* ranks : {"4,2,1", "3", "1"}) {
      SCOPED_TRACE(*groups.name + ", " + ranks);
      ProblemInfo<double> info;
      info.virtual_starts = comm::uniform_starts(A->rows().n_global(), comm->size());
      info.virtual_topology = std::make_shared<const mpi::Topology>(nodes);
      for (const Form& form : {Form{"direct"}, copies()}) {
        const Options there = moved(options, ranks, form);
        expect_same_counts(Hierarchy<double>(serial, there, info), Hierarchy<double>(A, there));
      }
    }
  }
}

std::shared_ptr<const model::Machine> machine_of(double on_node_s, double between_nodes_s) {
  model::Machine machine;
  machine.name = "test";
  machine.path(model::Locality::same_node)[0] = model::MessageParameters{on_node_s, 1e9};
  machine.path(model::Locality::other_node)[0] = model::MessageParameters{between_nodes_s, 1e9};
  machine.s_per_flop_by_level = {1e-10};
  return std::make_shared<const model::Machine>(machine);
}

TEST(Redistribution, ByCostIsTheSameForVirtualRanks) {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 2);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
  const io::GalleryOptions gallery = {.problem = "rotated_fe", .n = 25};
  const Matrix A = shared(io::generate<double>(comm, gallery));
  const Matrix serial = shared(io::generate<double>(test::self_comm(), gallery));
  struct Case {
    const char* by;
    int expected_solves;
  };
  for (const Case& c : {Case{"model_2014", 1}, Case{"automatic", 1}, Case{"automatic", 100}}) {
    SCOPED_TRACE(testing::Message() << c.by << ", " << c.expected_solves << " solves");
    Options options = options_of("classical");
    options.set("max_interpolation_entries", 0);
    options.set("redistribution", c.by);
    options.expected_solves = c.expected_solves;
    options.machine = machine_of(1e-6, 1e-4);
    ProblemInfo<double> info;
    info.virtual_starts = comm::uniform_starts(A->rows().n_global(), comm->size());
    info.virtual_topology = std::make_shared<const mpi::Topology>(nodes);
    const Hierarchy<double> real(A, options), alone(serial, options, info);
    expect_same_counts(alone, real);
    if (c.expected_solves > 1 && comm->size() > 3) {
      EXPECT_EQ(real.levels().back().copies, comm->topology().n_nodes());
    }
    for (std::size_t l = 1; l < real.levels().size(); ++l) {
      const RedistributionDecision& a = *real.levels()[l].redistribution_choice;
      const RedistributionDecision& b = *alone.levels()[l].redistribution_choice;
      EXPECT_EQ(a.ranks_before, b.ranks_before);
      EXPECT_EQ(a.ranks, b.ranks);
      EXPECT_EQ(a.ranks, real.levels()[l].active_ranks);
      EXPECT_EQ(a.redundant, b.redundant);
      EXPECT_NEAR(a.moved_s, b.moved_s, 1e-12);
      EXPECT_NEAR(a.stay_s, b.stay_s, 1e-12);
    }
  }
}

TEST(Redistribution, ByCostGoesByTheCosts) {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 2);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
  const Matrix A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 40}));
  const auto expect_to_go_by_costs = [&](const char* by, const MoveMethod& move) {
    SCOPED_TRACE(std::string(by) + ", " + *move.name);
    Options options = options_of("classical");
    options.set("redistribution", by);
    options.redistribution_move = move;
    options.machine = machine_of(1e-6, 1e-2);
    const Hierarchy<double> dear(A, options);
    options.machine = machine_of(1e-12, 1e-12);
    const Hierarchy<double> cheap(A, options);
    EXPECT_EQ(active_ranks(cheap)[1], comm->size());
    const std::vector<int> few = active_ranks(dear), many = active_ranks(cheap);
    if (comm->size() > 3) {
      EXPECT_LT(std::accumulate(few.begin(), few.end(), 0),
                std::accumulate(many.begin(), many.end(), 0));
    }
    Hierarchy<double> again(A, options);
    for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
      again.rebuild(A, reuse);
      EXPECT_EQ(one_cycle(cheap), one_cycle(again));
      EXPECT_EQ(active_ranks(cheap), active_ranks(again));
    }
    options.machine = machine_of(1e-6, 1e-2);
    Hierarchy<double> dear_again(A, options);
    for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
      dear_again.rebuild(A, reuse);
      EXPECT_EQ(one_cycle(dear), one_cycle(dear_again));
      EXPECT_EQ(active_ranks(dear), active_ranks(dear_again));
    }
  };
  for (const MoveMethod& move : MoveMethod::family()) {
    for (const char* by : {"model_2014", "automatic"}) expect_to_go_by_costs(by, move);
  }
}

/// Successive ranks on nodes of 2, 1, 3, 2 ranks.
std::vector<int> uneven_nodes() {
  const std::vector<int> nodes = {0, 0, 1, 2, 2, 2, 3, 3};
  return {nodes.begin(), nodes.begin() + test_comm()->size()};
}

bool is_redundant(const LevelInfo& info) {
  return info.redistribution_choice && info.redistribution_choice->redundant;
}

/// Where messages between nodes are dear, the way back from one rank is. Otherwise nothing changes.
template <class T>
void expect_copies_where_they_pay() {
  for (const auto& nodes : {uneven_nodes(), std::vector<int>(uneven_nodes().size(), 0)}) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
    const int n_nodes = comm->topology().n_nodes();
    SCOPED_TRACE(testing::Message() << "nodes " << n_nodes);
    const auto A = std::make_shared<const DistMatrix<T>>(
        io::generate<T>(comm, {.problem = "laplace9", .n = 25}));
    Options options = options_of("classical");
    const Hierarchy<T> stays(A, options);
    options.set("redistribution", "automatic");
    options.machine = machine_of(1e-6, 1e-2);
    options.route = "three_step";
    options.expected_solves = 20;  // one saves less than the setup of the copies takes
    Hierarchy<T> copied(A, options);
    const auto levels = copied.levels();
    ASSERT_EQ(levels.size(), stays.levels().size());
    int n_choices = 0;
    for (std::size_t l = 1; l < levels.size(); ++l) {
      if (!is_redundant(levels[l])) continue;
      ++n_choices;
      EXPECT_EQ(levels[l].active_ranks, 1);
      EXPECT_GT(levels[l].copies, 1);
      EXPECT_NE(levels[l].redistribution_choice->reason.find("copied to"), std::string::npos);
    }
    // Of three nodes two send to all copies what one rank would send back.
    EXPECT_EQ(n_choices, n_nodes == 2 || n_nodes == 4 ? 1 : 0);
    const int n_copies = n_choices > 0 ? n_nodes : 1;
    EXPECT_EQ(levels.back().copies, n_copies);
    const std::vector<T> cycle = one_cycle(copied), other = one_cycle(stays);
    const double tolerance = sizeof(T) == sizeof(float) ? 1e-3 : 1e-11;
    for (std::size_t i = 0; i < cycle.size(); ++i) EXPECT_NEAR(cycle[i], other[i], tolerance);
    for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
      copied.rebuild(A, reuse);
      EXPECT_EQ(one_cycle(copied), cycle);
      EXPECT_EQ(copied.levels().back().copies, n_copies);
    }
    // Nor is anything copied where vectors move.
    options.redistribution_move = "collective";
    const Hierarchy<T> moves_vectors(A, options);
    for (const LevelInfo& info : moves_vectors.levels()) EXPECT_FALSE(is_redundant(info));
  }
}

TEST(Redistribution, ByCostCopiesWhereThatPays) {
  expect_copies_where_they_pay<double>();
  expect_copies_where_they_pay<float>();
}

TEST(Redistribution, CopiesAreOnOneRankOfEachNodeThatTakesPart) {
  const mpi::Topology topology(std::vector<int>{0, 0, 1, 1, 0, 2});
  const std::vector<int> ranks = {0, 1, 2, 3, 4};
  const std::vector<int> holders = holders_of_copies(topology, ranks, 4);
  EXPECT_EQ(holders, (std::vector{4, 4, 2, 2, 4, -1}));
  EXPECT_EQ(ranks_with_copies(holders), (std::vector{2, 4}));
  EXPECT_EQ(starts_of_copies(holders, 7), (std::vector<GlobalIndex>{0, 0, 0, 7, 7, 14, 14}));
}

// Two nodes of two ranks, which have ten sums each: messages of 1 us on a node, of 10 us between
// nodes, and bytes that cost next to nothing.
TEST(Redistribution, TransfersToCopiesCostTheirMessages) {
  const mpi::Topology topology(std::vector<int>{0, 0, 1, 1});
  const std::vector<int> ranks = {0, 1, 2, 3};
  CopyTraffic traffic(topology, holders_of_copies(topology, ranks, 0));
  for (const int rank : ranks) {
    RankExchanges exchanges;
    exchanges.rank = rank;
    exchanges.transfer = {{0, 10}};
    traffic.add(exchanges);
  }
  const auto machine = machine_of(1e-6, 1e-5);
  constexpr double bytes = 1e-6;
  EXPECT_EQ(traffic.n_copies(), 2);
  EXPECT_NEAR(traffic.restriction_s(*machine, bytes, false), 21e-6, 1e-9);
  EXPECT_NEAR(traffic.restriction_s(*machine, bytes, true), 1e-6 + 10e-6 + 2e-6, 1e-9);
  EXPECT_NEAR(traffic.prolongation_s(*machine, bytes), 1e-6, 1e-9);
  EXPECT_NEAR(traffic.spreading_s(*machine, 0, 1e4), 20e-6, 1e-9);
}

TEST(Redistribution, ByCostOfVirtualRanksNeedsAMachine) {
  const Matrix A = shared(io::generate<double>(test::self_comm(), {.problem = "laplace5", .n = 8}));
  ProblemInfo<double> info;
  info.virtual_starts = {0, 20, 40, 64};
  info.virtual_topology = std::make_shared<const mpi::Topology>(std::vector<int>{0, 1, 0});
  Options options = options_of("classical");
  options.set("redistribution", "automatic");
  test::expect_same_error(*test_comm(), ErrorCode::unsupported,
                          [&] { Hierarchy<double>(A, options, info); });
}

TEST(Redistribution, OfVirtualRanksNeedsTheirNodes) {
  const auto self = test::self_comm();
  const Matrix A = shared(io::generate<double>(self, {.problem = "laplace5", .n = 8}));
  ProblemInfo<double> info;
  info.virtual_starts = {0, 20, 40, 64};
  const Options options = moved(options_of("classical"), "2");
  test::expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                          [&] { Hierarchy<double>(A, options, info); });
  info.virtual_topology = std::make_shared<const mpi::Topology>(std::vector<int>{0, 1, 0});
  test::expect_same_error(*test_comm(), ErrorCode::unsupported,
                          [&] { Hierarchy<double>(A, options, info); });
}

TEST(RankGroups, NeighboursFirstGroupsLarger) {
  const mpi::Topology one_node(std::vector<int>(7, 0));
  const std::vector<GlobalIndex> rows(7, 5);
  EXPECT_EQ(holders_of_rows(one_node, rows, 3), (std::vector<int>{0, 0, 0, 3, 3, 5, 5}));
  EXPECT_EQ(holders_of_rows(one_node, rows, 1), std::vector<int>(7, 0));
  EXPECT_EQ(holders_of_rows(one_node, rows, 7), (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(RankGroups, ANodesRanksBeforeTwoNodes) {
  const std::vector<int> nodes = {0, 0, 0, 0, 1, 1, 2, 2};
  const std::vector<GlobalIndex> rows(8, 1);
  EXPECT_EQ(holders_of_rows(mpi::Topology(nodes), rows, 3),
            (std::vector<int>{0, 0, 0, 0, 4, 4, 6, 6}));
  EXPECT_EQ(holders_of_rows(mpi::Topology(nodes), rows, 4),
            (std::vector<int>{0, 0, 2, 2, 4, 4, 6, 6}));
  EXPECT_EQ(holders_of_rows(mpi::Topology(nodes), rows, 2),
            (std::vector<int>{0, 0, 0, 0, 0, 0, 6, 6}));
}

TEST(RankGroups, InterleavedNodesAndEmptyRanks) {
  const std::vector<int> nodes = {0, 1, 0, 1, 0, 1};
  const std::vector<GlobalIndex> rows = {0, 4, 4, 4, 4, 0};
  EXPECT_EQ(holders_of_rows(mpi::Topology(nodes), rows, 2), (std::vector<int>{0, 1, 2, 1, 2, 5}));
  EXPECT_EQ(holders_of_rows(mpi::Topology(nodes), rows, 1), (std::vector<int>{0, 1, 1, 1, 1, 5}));
}

std::vector<int> holders_by(const char* groups, const GroupTask& task) {
  return (*GroupMethod::family().find(groups).holders)(task);
}

TEST(RankGroups, NeighboursOnWhateverNodes) {
  const mpi::Topology nodes(std::vector<int>{0, 1, 0, 1, 0, 1, 2});
  const std::vector<GlobalIndex> rows = {1, 1, 1, 0, 1, 1, 1};
  EXPECT_EQ(holders_by("rank", {nodes, rows, 4}), (std::vector<int>{0, 0, 2, 3, 2, 5, 6}));
  EXPECT_EQ(holders_by("rank", {nodes, rows, 1}), (std::vector<int>{0, 0, 0, 3, 0, 0, 0}));
}

TEST(RankGroups, ASocketsRanksBeforeTwoSockets) {
  const mpi::Topology nodes(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  const mpi::Topology sockets = nodes.with_domains(std::vector<int>{0, 1, 1, 1, 0, 0, 1, 1});
  const std::vector<GlobalIndex> rows(8, 3);
  const auto of = [&](const mpi::Topology& topology, int n) {
    return holders_by("socket", {topology, rows, n});
  };
  EXPECT_EQ(of(sockets, 1), std::vector<int>(8, 0));
  EXPECT_EQ(of(sockets, 2), (std::vector<int>{0, 0, 0, 0, 4, 4, 4, 4}));
  EXPECT_EQ(of(sockets, 4), (std::vector<int>{0, 1, 1, 1, 4, 4, 6, 6}));
  EXPECT_EQ(of(sockets, 6), (std::vector<int>{0, 1, 1, 3, 4, 5, 6, 6}));
  EXPECT_EQ(of(nodes, 4), holders_by("node", {nodes, rows, 4}));
}

TEST(RankGroups, ThoseThatSendMostToEachOther) {
  if (!(*GroupMethod::family().find("graph").is_available)()) GTEST_SKIP() << "without METIS";
  const mpi::Topology nodes(std::vector<int>(6, 0));
  const std::vector<GlobalIndex> rows = {2, 2, 2, 2, 0, 2};
  // 0 and 3, 1 and 5 and, alone, 2.
  const std::vector<RankCoupling> couplings = {{0, 3, 50}, {3, 0, 40}, {1, 5, 60}, {0, 1, 1},
                                               {1, 0, 1},  {2, 0, 2},  {2, 5, 2}};
  EXPECT_EQ(holders_by("graph", {nodes, rows, 3, couplings}), (std::vector<int>{0, 1, 2, 0, 4, 1}));
  EXPECT_EQ(holders_by("graph", {nodes, rows, 1, couplings}), (std::vector<int>{0, 0, 0, 0, 4, 0}));
  EXPECT_EQ(holders_by("graph", {nodes, rows, 5, couplings}), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  // No group is empty, whatever is coupled.
  for (int n = 1; n <= 5; ++n) {
    const std::vector<int> holders = holders_by("graph", {nodes, rows, n});
    EXPECT_EQ(std::set<int>(holders.begin(), holders.end()).size(),
              static_cast<std::size_t>(n + 1));
  }
}

TEST(Redistribution, GroupsOfAllKindsSolve) {
  for_maps_and_methods(
      [](const std::string& method, const Matrix& A, const std::vector<int>& node_of_rank) {
        const Hierarchy<double> there(A, options_of(method));
        for (const Choice<GroupMethod>& groups : all_groups()) {
          if (method != "classical" && !groups->needs_couplings) continue;
          for (const Form& form : forms()) {
            SCOPED_TRACE(testing::Message() << groups.name() << ", " << form);
            Options options = moved(options_of(method), form.redundant ? "1" : "3,1", form);
            options.redistribution_groups = groups;
            Hierarchy<double> fewer(A, options);
            expect_ranks(fewer, form.redundant ? 1 : 3);
            EXPECT_EQ(there.levels()[1].rows, fewer.levels()[1].rows);
            const bool in_order = std::is_sorted(node_of_rank.begin(), node_of_rank.end());
            if (groups == "rank" || (in_order && !groups->needs_couplings)) {
              expect_same_hierarchy(there, fewer);
              expect_near(one_cycle(there), one_cycle(fewer));
            }
            if (method != "air" || !groups->needs_couplings) continue;
            const std::vector<double> before = one_cycle(fewer);
            for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
              fewer.rebuild(A, reuse);
              EXPECT_EQ(before, one_cycle(fewer));
            }
          }
        }
      });
}

TEST(Redistribution, GroupsByTheGraphAreNotForVirtualRanks) {
  const Matrix A = shared(io::generate<double>(test::self_comm(), {.problem = "laplace5", .n = 8}));
  ProblemInfo<double> info;
  info.virtual_starts = {0, 20, 40, 64};
  info.virtual_topology = std::make_shared<const mpi::Topology>(std::vector<int>{0, 0, 1});
  Options options = moved(options_of("classical"), "1");
  options.redistribution_groups = "graph";
  test::expect_same_error(*test_comm(), ErrorCode::unsupported,
                          [&] { Hierarchy<double>(A, options, info); });
}

}  // namespace amg_redistribution_test
}  // namespace nodewise::amg
