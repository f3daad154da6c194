// The hierarchy as a whole: what it accepts, what it reports, and what its V-cycle is.
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/asymmetry.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_hierarchy_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::DenseMatrix;
using test::distribute;
using test::dot;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::norm;
using test::part_of;
using test::test_comm;

using Matrix = std::shared_ptr<const DistMatrix<double>>;

Matrix shared(DistMatrix<double> A) {
  return std::make_shared<const DistMatrix<double>>(std::move(A));
}

Matrix shared(const DenseMatrix& A, const Layout& layout) {
  return shared(distribute(A, layout));
}

/// With several levels for matrices of a few dozen rows.
Options small_options() {
  Options options;
  options.max_coarse_rows = 4;
  return options;
}

template <class T>
DenseMatrix apply(const Hierarchy<T>& hierarchy, const DenseMatrix& b) {
  const std::vector<double> part = part_of(hierarchy.layout(), b);
  const std::vector<T> mine(part.begin(), part.end());
  std::vector<T> x(mine.size(), T{1e3});
  hierarchy.apply(mine, x);
  return gathered(hierarchy.layout().comm(), x);
}

/// Collective. apply() as a matrix.
DenseMatrix dense_operator(const Hierarchy<double>& hierarchy) {
  const GlobalIndex n = hierarchy.layout().n_global();
  DenseMatrix M(n, n);
  for (GlobalIndex j = 0; j < n; ++j) {
    DenseMatrix unit(n);
    unit[j] = 1;
    M.put(0, j, apply(hierarchy, unit));
  }
  return M;
}

/// Whether a symmetric matrix is positive definite: the pivots of Gaussian elimination.
bool positive_definite(DenseMatrix M) {
  for (GlobalIndex k = 0; k < M.rows(); ++k) {
    if (!(M(k, k) > 0)) return false;
    for (GlobalIndex i = k + 1; i < M.rows(); ++i) {
      const double factor = M(i, k) / M(k, k);
      for (GlobalIndex j = k; j < M.cols(); ++j) M(i, j) -= factor * M(k, j);
    }
  }
  return true;
}

constexpr const char* kinds[] = {"l1_gauss_seidel", "gauss_seidel", "l1_jacobi", "jacobi"};

/// Collective. Calls f(options, name) for both coarsenings, all smoothers and both sweep orders.
template <class F>
void for_each_method(F&& f) {
  for (const char* coarsening : {"hmis", "pmis"}) {
    for (const std::string kind : kinds) {
      for (const SweepOrder order : {SweepOrder::forward_backward, SweepOrder::symmetric}) {
        Options options = small_options();
        options.set("coarsening", coarsening);
        options.smoother = kind;
        set_order(options, order);
        f(options, std::string("coarsening ") + coarsening + ", smoother " + kind + ", order " +
                       std::to_string(static_cast<int>(order)));
      }
    }
  }
}

TEST(Hierarchy, CycleIsLinearSymmetricAndPositiveDefinite) {
  const DenseMatrix values = test::model("laplace5", 6);
  const auto layouts = layouts_of(test_comm(), values.rows());
  const DenseMatrix u = hashed(values.rows(), 1);
  const DenseMatrix v = hashed(values.rows(), 2);
  std::size_t turn = 0;
  for_each_method([&](const Options& options, const std::string& what) {
    const Hierarchy<double> hierarchy(shared(values, layouts[turn++ % layouts.size()]), options);
    EXPECT_GE(hierarchy.levels().size(), 3U) << what;
    const DenseMatrix Mu = apply(hierarchy, u);
    const DenseMatrix combined = apply(hierarchy, u + -3.0 * v);
    test::expect_near(combined, Mu + -3.0 * apply(hierarchy, v), 1e-12, what);
    EXPECT_LT(solve::asymmetry(hierarchy), 1e-10) << what;
    const DenseMatrix M = dense_operator(hierarchy);
    test::expect_near(M, M.transpose(), 1e-12, what);
    EXPECT_TRUE(positive_definite(M)) << what;
  });
}

TEST(Hierarchy, CycleIsSymmetricForSeveralSweepsAndProblems) {
  for (const std::string problem : {"laplace27", "rotated_fe", "laplace9"}) {
    const DenseMatrix values = test::model(problem, problem == "laplace27" ? 5 : 11);
    for (const int sweeps : {1, 2, 3}) {
      for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
        Options options = small_options();
        set_sweeps(options, sweeps);
        const Hierarchy<double> hierarchy(shared(values, layout), options);
        EXPECT_LT(solve::asymmetry(hierarchy), 1e-10);
        const DenseMatrix u = hashed(values.rows(), 3);
        EXPECT_GT(dot(u, apply(hierarchy, u)), 0);
      }
    }
  }
}

// The last level is too large for a direct solver and is swept over.
TEST(Hierarchy, CycleIsSymmetricWhereCoarseningIsCutShort) {
  const auto A = shared(io::generate<double>(test_comm(), {.problem = "laplace5", .n = 40}));
  for (const std::string kind : kinds) {
    for (const int max_levels : {1, 2}) {
      Options options;
      options.smoother = kind;
      options.max_levels = max_levels;
      const Hierarchy<double> hierarchy(A, options);
      EXPECT_EQ(hierarchy.levels().size(), static_cast<std::size_t>(max_levels));
      EXPECT_EQ(hierarchy.levels().back().coarse_solver, "4 symmetric sweeps");
      EXPECT_LT(solve::asymmetry(hierarchy), 1e-10);
    }
  }
}

/// The dense V-cycle of two levels with an exact solution on the second, up to the smoother: the
/// error propagation has one property that any mistake in the order of the transfers destroys.
TEST(Hierarchy, TwoLevelCorrectionIsExactOnTheRangeOfTheInterpolation) {
  const DenseMatrix values = test::model("laplace5", 6);
  for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
    Options options = small_options();
    options.max_levels = 2;
    set_sweeps(options, 0);
    const Matrix A = shared(values, layout);
    const Hierarchy<double> hierarchy(A, options);
    // Without sweeps the cycle is P (P^T A P)^-1 P^T, a projection when multiplied by A.
    const DenseMatrix M = dense_operator(hierarchy);
    const DenseMatrix MA = M * values;
    test::expect_near(MA * MA, MA, 1e-10, "projection");
    double trace = 0;
    for (GlobalIndex i = 0; i < MA.rows(); ++i) trace += MA(i, i);
    EXPECT_NEAR(trace, static_cast<double>(hierarchy.levels()[1].rows), 1e-9);
  }
}

struct Solved {
  solve::Report report;
  double error = 0;  // |b - A x| / |b|
};

Solved run_cg(const Matrix& A, const Options& options) {
  const Hierarchy<double> hierarchy(A, options);
  std::vector<double> b, x(static_cast<std::size_t>(A->n_local()), 0.0);
  for (LocalIndex i = 0; i < A->n_local(); ++i) {
    b.push_back(hash_normal(static_cast<std::uint64_t>(A->rows().to_global(i))));
  }
  Solved solved;
  solved.report = solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {});
  std::vector<double> r(b.size());
  matrix::residual<double>(*A, x, b, r);
  solved.error = norm(gathered(A->comm(), r)) / norm(gathered(A->comm(), b));
  return solved;
}

TEST(Hierarchy, PreconditionedCgConvergesInFewIterations) {
  struct Case {
    std::string problem;
    int n;
    int most;
  };
  for (const Case& c :
       {Case{"laplace27", 12, 9}, Case{"laplace5", 40, 9}, Case{"rotated_fe", 30, 17}}) {
    const io::GalleryOptions problem{.problem = c.problem, .n = c.n};
    const Matrix A = shared(io::generate<double>(test_comm(), problem));
    const Matrix alone = shared(io::generate<double>(test::self_comm(), problem));
    for (const std::string coarsening : {"hmis", "pmis"}) {
      Options options;
      options.set("coarsening", coarsening);
      const Solved got = run_cg(A, options);
      EXPECT_TRUE(got.report.converged()) << got.report.diagnosis;
      EXPECT_LE(got.error, 1e-8);
      EXPECT_LE(got.report.iterations, c.most)
          << "problem " << c.problem << ", coarsening " << coarsening;
      if (coarsening == "hmis" || c.problem == "rotated_fe") continue;
      // The same hierarchy on any number of ranks; the sweeps alone differ.
      EXPECT_NEAR(got.report.iterations, run_cg(alone, options).report.iterations, 1);
    }
  }
}

TEST(Hierarchy, SolvesDirectlyWhatItIsAskedTo) {
  // Every rank inverts the 625 rows, which takes a while where ranks share cores.
  if (test_comm()->size() > 2) GTEST_SKIP() << "on 1 and 2 ranks only";
  const auto A = shared(io::generate<double>(test_comm(), {.problem = "laplace5", .n = 25}));
  Options options;
  options.max_coarse_rows = 625;
  EXPECT_EQ(Hierarchy<double>(A, options).levels().back().coarse_solver, "direct");
  const Solved got = run_cg(A, options);
  EXPECT_TRUE(got.report.converged()) << got.report.diagnosis;
  EXPECT_EQ(got.report.iterations, 1);
}

/// Collective. Expects CG with the default cycle to solve the system to the tolerance.
void expect_cg_solves(const DenseMatrix& values, const Layout& layout, const Options& options,
                      const std::string& what) {
  const Solved got = run_cg(shared(values, layout), options);
  EXPECT_TRUE(got.report.converged()) << what << ": " << got.report.diagnosis;
  EXPECT_LE(got.error, 1e-8) << what;
}

TEST(Hierarchy, SmallAndOddMatrices) {
  const auto third = [](GlobalIndex i) { return i % 3 == 1; };
  const std::vector<test::NamedMatrix> matrices = {
      {"one row", test::random_matrix(1, 0.0, 0.0, 1)},
      {"two rows", test::random_symmetric(2, 1.0, 0.0, 1)},
      {"fewer rows than ranks", test::random_symmetric(3, 1.0, 0.0, 2)},
      {"diagonal", test::random_matrix(30, 0.0, 0.0, 3)},
      {"isolated rows", test::with_isolated(test::model("laplace5", 7), third)},
      {"positive couplings", test::random_symmetric(40, 0.1, 0.5, 4)},
      {"only positive couplings", test::random_symmetric(40, 0.1, 1.0, 5)}};
  for (const auto& [name, values] : matrices) {
    for (const Layout& layout : layouts_of(test_comm(), values.rows(), GlobalIndex{1} << 40)) {
      expect_cg_solves(values, layout, small_options(), name);
      expect_cg_solves(values, layout, {}, name);
    }
  }
}

TEST(Hierarchy, NoRowsAtAll) {
  const Layout layout = Layout::uniform(test_comm(), 0);
  const Hierarchy<double> hierarchy(shared(DenseMatrix(0, 0), layout), {});
  EXPECT_EQ(hierarchy.levels().size(), 1U);
  EXPECT_EQ(apply(hierarchy, DenseMatrix(0)).size(), 0U);
}

TEST(Hierarchy, CanBeSetUpAgain) {
  const DenseMatrix values = test::model("laplace5", 9);
  const DenseMatrix other = test::model("rotated_fe", 7);
  for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
    const Matrix A = shared(values, layout);
    auto hierarchy = std::make_unique<Hierarchy<double>>(A, small_options());
    const DenseMatrix first = apply(*hierarchy, hashed(values.rows(), 1));
    // On the same matrix while the first lives, and after it is gone.
    const Hierarchy<double> second(A, small_options());
    test::expect_near(apply(second, hashed(values.rows(), 1)), first, 0.0, "second setup");
    hierarchy.reset();
    test::expect_near(apply(second, hashed(values.rows(), 1)), first, 0.0, "after the first");
    // With another matrix and size, then with the first again.
    const Matrix B = shared(other, Layout::uniform(test_comm(), other.rows()));
    hierarchy = std::make_unique<Hierarchy<double>>(B, small_options());
    EXPECT_EQ(hierarchy->levels()[0].rows, other.rows());
    EXPECT_LT(solve::asymmetry(*hierarchy), 1e-10);
    hierarchy = std::make_unique<Hierarchy<double>>(A, small_options());
    test::expect_near(apply(*hierarchy, hashed(values.rows(), 1)), first, 0.0, "third setup");
    // A moved hierarchy is the same.
    const Hierarchy<double> moved(std::move(*hierarchy));
    test::expect_near(apply(moved, hashed(values.rows(), 1)), first, 0.0, "moved");
  }
}

TEST(Hierarchy, SharesTheMatrix) {
  Matrix A = shared(test::model("laplace5", 8), Layout::uniform(test_comm(), 64));
  const std::weak_ptr<const DistMatrix<double>> watched = A;
  {
    const Hierarchy<double> hierarchy(A, small_options());
    A.reset();
    EXPECT_FALSE(watched.expired());
    EXPECT_GT(norm(apply(hierarchy, hashed(64, 1))), 0);
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Hierarchy, Float) {
  const DenseMatrix values = test::model("laplace27", 6);
  for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = std::make_shared<const DistMatrix<float>>(distribute<float>(values, layout));
    const Hierarchy<float> single(A, small_options());
    const Hierarchy<double> twice(shared(values, layout), small_options());
    EXPECT_LT(solve::asymmetry(single), 1e-4);
    // One cycle reduces the residual as that in double does.
    const DenseMatrix b = hashed(values.rows(), 1);
    const double left = norm(b - values * apply(single, b)) / norm(b);
    EXPECT_NEAR(left, norm(b - values * apply(twice, b)) / norm(b), 0.02);
    EXPECT_LT(left, 0.5);
  }
}

TEST(Hierarchy, LevelInfoIsConsistent) {
  const DenseMatrix values = test::model("laplace5", 12);
  for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
    std::vector<LevelInfo> seen;
    const Hierarchy<double> hierarchy(shared(values, layout), small_options(),
                                      [&](int level, const LevelInfo& info) {
                                        EXPECT_EQ(level, static_cast<int>(seen.size()));
                                        seen.push_back(info);
                                      });
    const auto levels = hierarchy.levels();
    EXPECT_EQ(seen.size(), levels.size());
    double rows = 0, nonzeros = 0;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const LevelInfo& info = levels[l];
      const bool last = l + 1 == levels.size();
      EXPECT_EQ(info.rows, seen[l].rows);
      EXPECT_EQ(info.nonzeros, seen[l].nonzeros);
      EXPECT_GE(info.nonzeros, info.rows);
      EXPECT_LE(info.nonzeros, info.rows * info.rows);
      EXPECT_EQ(info.coarse_solver, last ? "direct" : "");
      EXPECT_EQ(info.interpolation_nonzeros == 0, last);
      EXPECT_LE(info.interpolation_nonzeros, 4 * info.rows);
      EXPECT_LE(info.active_ranks, test_comm()->size());
      EXPECT_LE(info.max_messages, info.active_ranks - 1);
      EXPECT_LE(info.max_messages, info.traffic.messages_on_node + info.traffic.messages_off_node);
      if (l > 0) {
        EXPECT_LT(info.rows, levels[l - 1].rows);
      }
      rows += static_cast<double>(info.rows);
      nonzeros += static_cast<double>(info.nonzeros);
    }
    EXPECT_EQ(levels[0].rows, 144);
    EXPECT_EQ(levels[0].nonzeros, 5 * 144 - 4 * 12);
    EXPECT_LT(levels.back().rows, 20);  // where only diagonals dominate, coarsening ends early
    EXPECT_DOUBLE_EQ(hierarchy.grid_complexity(), rows / 144);
    EXPECT_DOUBLE_EQ(hierarchy.operator_complexity(),
                     nonzeros / static_cast<double>(levels[0].nonzeros));
    EXPECT_GT(mpi::sum(*test_comm(), static_cast<std::int64_t>(hierarchy.memory_bytes())), 0);
  }
}

// A coarse point lives on the rank of its fine point, in the order of these, and interpolates there
// to itself alone.
TEST(Hierarchy, CoarseRowsAreWhereInterpolationIsTheIdentity) {
  const DenseMatrix values = test::model("rotated_fe", 11);
  for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
    const Hierarchy<double> hierarchy(shared(values, layout), small_options());
    const std::size_t last = hierarchy.levels().size() - 1;
    ASSERT_GT(last, 0U);
    EXPECT_EQ(hierarchy.interpolation(last), nullptr);
    EXPECT_TRUE(hierarchy.coarse_rows(last).empty());
    for (std::size_t l = 0; l < last; ++l) {
      const DistMatrix<double>& P = *hierarchy.interpolation(l);
      const auto rows = hierarchy.coarse_rows(l);
      EXPECT_EQ(P.nnz_global(), hierarchy.levels()[l].interpolation_nonzeros);
      EXPECT_TRUE(P.rows() == hierarchy.matrix(l)->rows());
      EXPECT_EQ(std::ssize(rows), hierarchy.matrix(l + 1)->n_local());
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const Offset at = P.on().begin(rows[k]);
        EXPECT_EQ(P.on().end(rows[k]), at + 1);
        EXPECT_EQ(P.off().end(rows[k]), P.off().begin(rows[k]));
        EXPECT_EQ(P.on().cols[static_cast<std::size_t>(at)], static_cast<LocalIndex>(k));
        EXPECT_EQ(P.on().vals[static_cast<std::size_t>(at)], 1.0);
      }
    }
  }
}

// A chain, two points a rank: every rank sends one number to each neighbour.
TEST(Hierarchy, AutomaticMeasureDependsOnSymmetry) {
  const DenseMatrix one_sided = test::random_matrix(60, 0.1, 0.5, 2);
  DenseMatrix symmetric = one_sided;
  for (GlobalIndex i = 0; i < symmetric.rows(); ++i) {
    for (GlobalIndex j = 0; j < i; ++j) symmetric(j, i) = symmetric(i, j);
  }
  const Layout layout = Layout::uniform(test_comm(), 60);
  const auto sizes = [&](const DenseMatrix& values, StrengthMeasure measure) {
    Options options = small_options();
    classical_options(options).strength_measure = measure;
    const Hierarchy<double> hierarchy(shared(values, layout), options);
    std::vector<GlobalIndex> all;
    for (const LevelInfo& level : hierarchy.levels()) {
      all.insert(all.end(), {level.rows, level.nonzeros, level.interpolation_nonzeros});
    }
    return all;
  };
  for (const bool is_symmetric : {false, true}) {
    const DenseMatrix& values = is_symmetric ? symmetric : one_sided;
    const auto opposite_sign = sizes(values, StrengthMeasure::opposite_sign);
    const auto absolute = sizes(values, StrengthMeasure::absolute);
    ASSERT_NE(opposite_sign, absolute);
    EXPECT_EQ(sizes(values, StrengthMeasure::automatic), is_symmetric ? opposite_sign : absolute);
  }
}

// Sums that arrive in another order are rounded otherwise, so the levels are compared by size and
// the cycles by their effect.
TEST(Hierarchy, RoutesGiveTheSameHierarchy) {
  const int p = test_comm()->size();
  for (const test::NodeMap& map : test::node_maps(p)) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const DenseMatrix values = test::model("laplace9", 9);
    const Matrix A = shared(values, Layout::uniform(comm, values.rows()));
    const DenseMatrix b = hashed(values.rows(), 3);
    Options options = small_options();
    const Hierarchy<double> direct(A, options);
    const DenseMatrix expected = apply(direct, b);
    for (const comm::Route route : {"two_step", "three_step"}) {
      for (const int from : {0, 1}) {
        SCOPED_TRACE(testing::Message() << map.name << ", " << route.name() << " from " << from);
        options.route = route;
        options.route_from_level = from;
        const Hierarchy<double> routed(A, options);
        ASSERT_EQ(routed.levels().size(), direct.levels().size());
        ASSERT_GT(routed.levels().size(), 2U);
        for (std::size_t l = 0; l < routed.levels().size(); ++l) {
          const LevelInfo& level = routed.levels()[l];
          EXPECT_EQ(level.rows, direct.levels()[l].rows);
          EXPECT_EQ(level.nonzeros, direct.levels()[l].nonzeros);
          EXPECT_EQ(level.routes.solve, std::cmp_less(l, from) ? "direct" : route);
          EXPECT_LE(level.traffic.entries_off_node, direct.levels()[l].traffic.entries_off_node);
        }
        const DenseMatrix x = apply(routed, b);
        for (GlobalIndex i = 0; i < values.rows(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-10);
      }
    }
    EXPECT_EQ(A->route(), "direct");
  }
}

/// Messages and bytes between nodes that this rank sends in some operations, of all levels.
std::vector<std::int64_t> sent_off_node(mpi::Ledger& ledger,
                                        const std::set<std::string>& operations) {
  std::map<int, std::pair<std::int64_t, std::int64_t>> by_level;
  for (const mpi::Account& account : ledger.accounts()) {
    if (operations.count(account.operation) == 0) continue;
    by_level[account.level].first += account.counts.messages_off_node;
    by_level[account.level].second += account.counts.bytes_off_node;
  }
  std::vector<std::int64_t> sent;
  for (const auto& [level, counts] : by_level) {
    sent.insert(sent.end(), {level, counts.first, counts.second});
  }
  return sent;
}

const std::set<std::string> setup_operations = {"splitting", "interpolation", "AP", "PtAP"};
const std::set<std::string> solve_operations = {"smoothing", "residual", "restriction",
                                                "prolongation"};

// The setup of one choice of routes and the solve of another send what they would without each
// other.
TEST(Hierarchy, SetupAndSolveTakeTheirOwnRoutes) {
  using Routes = ByLevel<comm::Route>;
  const Routes by_level = {"direct", "two_step", "three_step"};
  const DenseMatrix values = test::model("laplace9", 9);
  const DenseMatrix b = hashed(values.rows(), 3);
  for (const test::NodeMap& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Matrix A = shared(values, Layout::uniform(comm, values.rows()));
    const auto sent = [&](const Routes& setup, const Routes& solve) {
      Options options = small_options();
      options.setup_route = setup;
      options.route = solve;
      comm->ledger().clear();
      const Hierarchy<double> hierarchy(A, options);
      for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
        const routing::LevelRoutes routes = hierarchy.levels()[l].routes;
        EXPECT_EQ(routes.solve, solve.on(static_cast<int>(l)));
        EXPECT_EQ(routes.setup, (setup.empty() ? solve : setup).on(static_cast<int>(l)));
        EXPECT_EQ(hierarchy.matrix(l)->route(), routes.solve);
      }
      apply(hierarchy, b);
      return std::pair(sent_off_node(comm->ledger(), setup_operations),
                       sent_off_node(comm->ledger(), solve_operations));
    };
    for (const Routes& setup : {Routes("three_step"), by_level}) {
      SCOPED_TRACE(map.name);
      const auto [setup_alone, solve_alone] = sent({}, setup);
      const auto [setup_direct, solve_direct] = sent({}, "direct");
      const auto [setup_mixed, solve_mixed] = sent(setup, "direct");
      EXPECT_EQ(setup_mixed, setup_alone);
      EXPECT_EQ(solve_mixed, solve_direct);
      const auto [setup_inverse, solve_inverse] = sent("direct", setup);
      EXPECT_EQ(setup_inverse, setup_direct);
      EXPECT_EQ(solve_inverse, solve_alone);
    }
  }
}

TEST(Hierarchy, TrafficOfAChainIsExact) {
  const int p = test_comm()->size();
  const GlobalIndex n = 2 * p;
  DenseMatrix chain(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    chain(i, i) = 2;
    if (i > 0) chain(i, i - 1) = chain(i - 1, i) = -1;
  }
  for (const test::NodeMap& map : test::node_maps(p)) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Hierarchy<double> hierarchy(shared(chain, Layout::uniform(comm, n)), {});
    std::int64_t on_node = 0;
    for (std::size_t r = 0; r + 1 < map.node_of_rank.size(); ++r) {
      on_node += map.node_of_rank[r] == map.node_of_rank[r + 1] ? 2 : 0;
    }
    const LevelInfo& info = hierarchy.levels()[0];
    EXPECT_EQ(info.traffic.messages_on_node, on_node) << map.name;
    EXPECT_EQ(info.traffic.entries_on_node, on_node) << map.name;
    EXPECT_EQ(info.traffic.messages_off_node, 2 * (p - 1) - on_node) << map.name;
    EXPECT_EQ(info.traffic.entries_off_node, 2 * (p - 1) - on_node) << map.name;
    EXPECT_EQ(info.active_ranks, p) << map.name;
    EXPECT_EQ(info.max_messages, std::min(p - 1, 2)) << map.name;
    EXPECT_EQ(info.nonzeros, 3 * n - 2) << map.name;
  }
}

TEST(Hierarchy, ActiveRanksAreThoseWithRows) {
  const DenseMatrix values = test::model("laplace5", 5);
  const int p = test_comm()->size();
  const auto layouts = layouts_of(test_comm(), values.rows());
  EXPECT_EQ(Hierarchy<double>(shared(values, layouts[0]), {}).levels()[0].active_ranks, p);
  EXPECT_EQ(Hierarchy<double>(shared(values, layouts[1]), {}).levels()[0].active_ranks, 1);
}

/// Collective. Expects a setup that fails alike on every rank, on all layouts, naming `place`.
void expect_refused(const DenseMatrix& values, const std::string& place, const std::string& why) {
  for (const Layout& layout : layouts_of(test_comm(), values.rows())) {
    const Matrix A = shared(values, layout);
    const std::string text = test::expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                                                     [&] { const Hierarchy<double> h(A, {}); });
    EXPECT_NE(text.find(place + ", counted from 0"), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
  }
}

DenseMatrix with_entry(DenseMatrix A, GlobalIndex i, GlobalIndex j, double value) {
  A(i, j) = value;
  return A;
}

TEST(HierarchyErrors, MissingDiagonalEntry) {
  const DenseMatrix values = test::model("laplace5", 5);
  expect_refused(with_entry(values, 17, 17, 0), "row 17", "has no nonzero diagonal");
  // Of several rows the first is named, and they are counted.
  expect_refused(with_entry(with_entry(values, 21, 21, 0), 6, 6, 0), "2 of 25 rows (first: row 6",
                 "diagonal");
  expect_refused(with_entry(values, 24, 24, 0), "row 24", "has no nonzero diagonal");
}

TEST(HierarchyErrors, StoredZeroOnTheDiagonal) {
  for (const Layout& layout : layouts_of(test_comm(), 10)) {
    const Matrix A =
        shared(matrix::matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, auto&& emit) {
          emit(i, i == 4 ? 0.0 : 2.0);
          emit((i + 1) % 10, -1.0);
        }));
    const std::string text = test::expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                                                     [&] { const Hierarchy<double> h(A, {}); });
    EXPECT_NE(text.find("row 4, counted from 0"), std::string::npos) << text;
  }
}

TEST(HierarchyErrors, EmptyRow) {
  DenseMatrix values = test::model("laplace5", 5);
  for (GlobalIndex j = 0; j < values.cols(); ++j) values(9, j) = 0;
  expect_refused(values, "row 9", "is empty");
}

TEST(HierarchyErrors, EntriesThatAreNotFinite) {
  const DenseMatrix values = test::model("laplace5", 5);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  expect_refused(with_entry(values, 12, 12, nan), "row 12", "not a finite number");
  expect_refused(with_entry(values, 0, 24, nan), "row 0", "not a finite number");
  expect_refused(with_entry(values, 24, 0, -infinity), "row 24", "not a finite number");
}

TEST(HierarchyErrors, NotSquare) {
  const auto refused = [](const Layout& rows, const Layout& cols) {
    const Matrix A = shared(matrix::matrix_from_rows<double>(
        rows, cols, [&](GlobalIndex, auto&& emit) { emit(cols.first(), 1.0); }));
    return test::expect_same_error(*test_comm(), ErrorCode::dimension_mismatch,
                                   [&] { const Hierarchy<double> h(A, {}); });
  };
  const auto uniform = [](GlobalIndex n) { return Layout::uniform(test_comm(), n); };
  EXPECT_NE(refused(uniform(7), uniform(9)).find("7 x 9"), std::string::npos);
  EXPECT_NE(refused(uniform(9), uniform(7)).find("9 x 7"), std::string::npos);
  if (test_comm()->size() > 1) {
    EXPECT_NE(refused(uniform(9), layouts_of(test_comm(), 9)[1]).find("not square"),
              std::string::npos);
  }
}

}  // namespace amg_hierarchy_test
}  // namespace nodewise::amg
