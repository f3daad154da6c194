// Hierarchies by smoothed aggregation, on every layout.
#include <cstring>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "aggregate_support.hpp"
#include "framework.hpp"
#include "prolongator_reference.hpp"

namespace nodewise::amg {
namespace amg_aggregation_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::DenseMatrix;
using test::expect_near;
using test::Framework;
using test::gathered;
using test::layouts_of;
using test::rigid_knowledge;
using test::test_comm;

using Matrix = std::shared_ptr<const DistMatrix<double>>;

Matrix shared(DistMatrix<double> A) {
  return std::make_shared<const DistMatrix<double>>(std::move(A));
}

Options aggregation_options(int unknowns = 1) {
  Options options;
  options.method = "aggregation";
  options.unknowns = unknowns;
  options.max_coarse_rows = 10;
  options.smoother = "chebyshev";
  return options;
}

struct Solved {
  int iterations = 0;
  std::vector<GlobalIndex> rows;  // of the levels
};

Solved solve_by_cg(const Matrix& A, const Hierarchy<double>& hierarchy) {
  const auto n = static_cast<std::size_t>(A->n_local());
  std::vector<double> b(n), x(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    b[i] = hash_uniform(static_cast<std::uint64_t>(A->rows().to_global(static_cast<LocalIndex>(i))),
                        1);
  }
  const auto report = solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  Solved solved{report.iterations, {}};
  for (const LevelInfo& level : hierarchy.levels()) solved.rows.push_back(level.rows);
  return solved;
}

TEST(Aggregation, RigidMotionsAreThoseThatBarsDoNotResist) {
  const Framework free(4, 5, false);
  for (const Layout& rows : test::layouts_of_points(20, 2)) {
    const auto modes = rigid_knowledge(free, rows).near_null_space;
    const DenseMatrix product = free.A * test::gathered_vectors(*test_comm(), modes);
    for (std::size_t k = 0; k < product.size(); ++k) EXPECT_NEAR(product.data()[k], 0, 1e-12);
  }
}

TEST(Aggregation, CoarseMatricesAreGalerkinProducts) {
  const Framework framework(6, 7, true);
  for (const Layout& rows : test::layouts_of_points(42, 2)) {
    const Matrix A = shared(test::distribute(framework.A, rows));
    const Hierarchy<double> hierarchy(A, aggregation_options(2), rigid_knowledge(framework, rows));
    ASSERT_GE(hierarchy.levels().size(), 2u);
    for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
      const DenseMatrix P = gathered(*hierarchy.interpolation(l));
      const DenseMatrix product = P.transpose() * gathered(*hierarchy.matrix(l)) * P;
      EXPECT_EQ(P.cols() % 3, 0);
      const DenseMatrix coarse = gathered(*hierarchy.matrix(l + 1));
      for (GlobalIndex i = 0; i < coarse.rows(); ++i) EXPECT_GT(coarse(i, i), 0) << "row " << i;
      expect_near(coarse, product, 1e-12, "coarse matrix");
    }
  }
}

/// How many independent vectors a symmetric matrix maps to zero: what elimination leaves, up to
/// round-off of numbers of the size `largest`.
int nullity(DenseMatrix A, double largest) {
  int left = static_cast<int>(A.rows());
  std::vector<char> used(static_cast<std::size_t>(A.rows()), 0);
  while (left > 0) {
    GlobalIndex pivot = -1;
    for (GlobalIndex i = 0; i < A.rows(); ++i) {
      if (!used[static_cast<std::size_t>(i)] && (pivot < 0 || A(i, i) > A(pivot, pivot))) pivot = i;
    }
    if (A(pivot, pivot) < 1e-10 * largest) return left;
    used[static_cast<std::size_t>(pivot)] = 1;
    --left;
    for (GlobalIndex i = 0; i < A.rows(); ++i) {
      if (used[static_cast<std::size_t>(i)]) continue;
      const double factor = A(i, pivot) / A(pivot, pivot);
      for (GlobalIndex j = 0; j < A.cols(); ++j) A(i, j) -= factor * A(pivot, j);
    }
  }
  return 0;
}

TEST(Aggregation, KeepsMotionsWithoutResistanceOnEveryLevel) {
  const Framework free(9, 9, false);
  EXPECT_EQ(nullity(free.A, 1), 3);
  for (const Layout& rows : test::layouts_of_points(81, 2)) {
    const Matrix A = shared(test::distribute(free.A, rows));
    const Hierarchy<double> hierarchy(A, aggregation_options(2), rigid_knowledge(free, rows));
    ASSERT_GE(hierarchy.levels().size(), 2u);
    for (std::size_t l = 1; l < hierarchy.levels().size(); ++l) {
      EXPECT_EQ(nullity(gathered(*hierarchy.matrix(l)), 1), 3) << "level " << l;
    }
  }
}

TEST(Aggregation, IterationsDoNotDependOnTheRanks) {
  const Framework framework(16, 16, true);
  const auto serial_layout = Layout::uniform(test::self_comm(), 512);
  const Matrix serial = shared(test::distribute(framework.A, serial_layout));
  for (const int sweeps : {0, 2}) {
    Options options = aggregation_options(2);
    options.set("candidate_sweeps", sweeps);
    const Solved expected =
        solve_by_cg(serial, {serial, options, rigid_knowledge(framework, serial_layout)});
    EXPECT_GE(expected.rows.size(), 3u);
    EXPECT_LE(expected.iterations, 25);
    for (const Layout& rows : test::layouts_of_points(256, 2)) {
      const Matrix A = shared(test::distribute(framework.A, rows));
      const Solved got = solve_by_cg(A, {A, options, rigid_knowledge(framework, rows)});
      EXPECT_EQ(got.rows, expected.rows);
      EXPECT_NEAR(got.iterations, expected.iterations, 1);
    }
  }
}

TEST(Aggregation, NeedsRotationsForElasticity) {
  const Framework framework(24, 24, true);
  const auto rows = test::layouts_of_points(576, 2).front();
  const Matrix A = shared(test::distribute(framework.A, rows));
  const Options options = aggregation_options(2);
  const Solved with = solve_by_cg(A, {A, options, rigid_knowledge(framework, rows)});
  const Solved without = solve_by_cg(A, {A, options});
  EXPECT_LT(with.iterations, without.iterations);
}

TEST(Aggregation, TakesEveryChoice) {
  const auto A = shared(io::generate<double>(test_comm(), {.problem = "rotated_fe", .n = 24}));
  for (const char* kind : {"independent_set", "standard"}) {
    for (const int distance : {1, 2, 3}) {
      for (const bool filter : {false, true}) {
        for (const int sweeps : {0, 1, 2}) {
          Options options = aggregation_options();
          options.set("aggregates", kind);
          options.set("aggregation_distance", distance);
          options.set("filter_prolongation", filter);
          options.set("prolongation_sweeps", sweeps);
          const Hierarchy<double> hierarchy(A, options);
          EXPECT_GE(hierarchy.levels().size(), 2u);
          EXPECT_LE(solve_by_cg(A, hierarchy).iterations, 60);
        }
      }
    }
  }
}

// P = (I - D^-1 A) T with strong connections of either row, as in Bienz 2018, section 7.2.2.
TEST(Aggregation, SmoothsByAWeightThatIsNotScaled) {
  const DenseMatrix values = test::model("rotated_fe", 12);
  for (const bool filter : {false, true}) {
    Options options = aggregation_options();
    options.smoother = "l1_jacobi";  // which needs no radius either
    options.set("aggregation_strength", "classical");
    options.set("scale_prolongation_weight", false);
    options.set("prolongation_weight", 1);
    options.set("filter_prolongation", filter);
    const auto& own = options.method.options<AggregationOptions>();
    for (const Layout& layout : layouts_of(test_comm(), 144)) {
      const Matrix A = shared(test::distribute(values, layout));
      ProblemInfo<double> knowledge;
      knowledge.symmetric = true;
      A->comm().ledger().clear();
      const GridTransfer<double> transfer = aggregation_transfer(*A, knowledge, options);
      for (const mpi::Account& account : A->comm().ledger().accounts()) {
        EXPECT_NE(account.operation, "spectral_radius");
      }
      const auto graph = point_graph(*A, 1, own);
      const auto T = test::reference_tentative(
          test::gathered_numbers(*test_comm(), transfer.aggregates->of_point),
          static_cast<int>(transfer.aggregates->layout.n_global()), 1,
          DenseMatrix(144, 1).map<double>([](double) { return 1.0; }));
      const DenseMatrix by =
          filter ? test::reference_filtered(values, test::gathered_marks(*A, graph.strength), 1)
                 : values;
      test::expect_near(gathered(*transfer.P), test::reference_smoothed(by, T.Q, 1.0, 1), 1e-12,
                        filter ? "P, filtered" : "P");
    }
  }
}

// Anisotropic: by the largest entry of a row as by the diagonals, few connections are strong.
TEST(Aggregation, SolvesWithClassicalStrength) {
  for (const char* problem : {"laplace27", "rotated_fe"}) {
    const int n = problem[0] == 'l' ? 8 : 24;
    const auto A = shared(io::generate<double>(test_comm(), {.problem = problem, .n = n}));
    Options options = aggregation_options();
    options.set("aggregation_strength", "classical");
    const Hierarchy<double> hierarchy(A, options);
    EXPECT_GE(hierarchy.levels().size(), 2u);
    EXPECT_LE(solve_by_cg(A, hierarchy).iterations, 40);
  }
  const Framework framework(12, 12, true);  // two unknowns a point: norms have no sign
  const auto rows = test::layouts_of_points(144, 2).front();
  const Matrix A = shared(test::distribute(framework.A, rows));
  Options options = aggregation_options(2);
  options.set("aggregation_strength", "classical");
  const Hierarchy<double> hierarchy(A, options, rigid_knowledge(framework, rows));
  EXPECT_GE(hierarchy.levels().size(), 2u);
  EXPECT_LE(solve_by_cg(A, hierarchy).iterations, 40);
}

TEST(Aggregation, IsGreedyWhereRanksHaveManyPoints) {
  Options options = aggregation_options();
  const auto kind = [&](const char* wanted, GlobalIndex n_points, int n_ranks) {
    options.set("aggregates", wanted);
    return aggregates_of_level(n_points, n_ranks, options.method.options<AggregationOptions>())
        .name();
  };
  EXPECT_EQ(kind("auto", 7, 1), "standard");
  EXPECT_EQ(kind("auto", 16'000, 8), "standard");
  EXPECT_EQ(kind("auto", 15'999, 8), "independent_set");
  EXPECT_EQ(kind("auto", 4'000'000'000'000, 8192), "standard");
  EXPECT_EQ(kind("auto", 0, 2), "independent_set");
  EXPECT_EQ(kind("standard", 1, 8), "standard");
  EXPECT_EQ(kind("independent_set", 1'000'000, 1), "independent_set");

  // 4,096 points, which are many for two ranks but not for three.
  const auto A = shared(io::generate<double>(test_comm(), {.problem = "laplace9", .n = 64}));
  const auto rows_of_second_level = [&](const char* wanted) {
    options.set("aggregates", wanted);
    const Hierarchy<double> hierarchy(A, options);
    EXPECT_LE(solve_by_cg(A, hierarchy).iterations, 20);
    return hierarchy.levels().size() > 1 ? hierarchy.levels()[1].rows : 0;
  };
  const GlobalIndex greedy = rows_of_second_level("standard");
  const GlobalIndex independent = rows_of_second_level("independent_set");
  EXPECT_NE(greedy, independent);
  EXPECT_EQ(rows_of_second_level("auto"), test_comm()->size() <= 2 ? greedy : independent);
}

TEST(Aggregation, LeavesIsolatedPointsToTheSmoother) {
  DenseMatrix values = test::model("laplace5", 9);
  values = test::with_isolated(values, [](GlobalIndex i) { return i % 5 == 0; });
  for (const Layout& layout : layouts_of(test_comm(), 81)) {
    const Matrix A = shared(test::distribute(values, layout));
    const Hierarchy<double> hierarchy(A, aggregation_options());
    ASSERT_GE(hierarchy.levels().size(), 2u);
    const DenseMatrix P = gathered(*hierarchy.interpolation(0));
    for (GlobalIndex i = 0; i < 81; i += 5)
      EXPECT_EQ(P.rows_from(i, 1).map<int>([](double v) { return v != 0 ? 1 : 0; }).sum(), 0);
    solve_by_cg(A, hierarchy);
  }
}

TEST(Aggregation, MakesNoCoarseGridOfADiagonalMatrix) {
  DenseMatrix values(40, 40);
  for (GlobalIndex i = 0; i < 40; ++i) values(i, i) = 1.0 + double(i);
  for (const Layout& layout : layouts_of(test_comm(), 40)) {
    const Matrix A = shared(test::distribute(values, layout));
    EXPECT_EQ(Hierarchy<double>(A, aggregation_options()).levels().size(), 1u);
  }
}

TEST(Aggregation, TreatsAggregatesWithFewerRowsThanVectors) {
  // One group of twelve points and five of two, with two rows each, and five vectors: of each pair
  // one column of P is left without entries.
  DenseMatrix values(44, 44);
  values.put(0, 0, test::random_symmetric(24, 1, 0, 1));
  for (GlobalIndex pair = 0; pair < 5; ++pair) {
    const GlobalIndex at = 24 + 4 * pair;
    values.put(at, at, test::random_symmetric(4, 1, 0, static_cast<std::uint64_t>(pair)));
  }
  for (const Layout& rows : test::layouts_of_points(22, 2)) {
    const Matrix A = shared(test::distribute(values, rows));
    ProblemInfo<double> knowledge;
    knowledge.near_null_space.n_vectors = 5;
    for (GlobalIndex at = 5 * rows.begin(); at < 5 * rows.end(); ++at) {
      knowledge.near_null_space.values.push_back(hash_uniform(static_cast<std::uint64_t>(at), 2) -
                                                 0.5);
    }
    Options options = aggregation_options(2);
    options.set("aggregation_threshold", 0);
    const Hierarchy<double> hierarchy(A, options, knowledge);
    ASSERT_GE(hierarchy.levels().size(), 2u);
    const DenseMatrix P = gathered(*hierarchy.interpolation(0));
    ASSERT_EQ(P.cols(), 30);
    const DenseMatrix squares = P.transpose() * P;
    const DenseMatrix coarse = gathered(*hierarchy.matrix(1));
    int empty = 0;
    for (GlobalIndex j = 0; j < 30; ++j) {
      empty += squares(j, j) == 0 ? 1 : 0;
      EXPECT_GT(coarse(j, j), 0);
    }
    EXPECT_EQ(empty, 5);
    solve_by_cg(A, hierarchy);
  }
}

TEST(Aggregation, RefusesWhatDoesNotFitOnEveryRank) {
  const Framework framework(3, 3, true);
  const auto layout = Layout::uniform(test_comm(), 18);
  const Matrix A = shared(test::distribute(framework.A, layout));
  Options options = aggregation_options(4);  // 18 rows are not points of 4
  options.max_coarse_rows = 100;             // found out even where nothing is aggregated
  test::expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                          [&] { Hierarchy<double>(A, options); });
  options.unknowns = 1;
  ProblemInfo<double> knowledge;
  knowledge.near_null_space.n_vectors = 1;
  knowledge.near_null_space.values.resize(static_cast<std::size_t>(layout.n_local()), 1.0);
  if (test_comm()->rank() == 0) knowledge.near_null_space.values.push_back(1);
  test::expect_same_error(*test_comm(), ErrorCode::dimension_mismatch,
                          [&] { Hierarchy<double>(A, options, knowledge); });
}

TEST(Aggregation, RebuildsForOtherValues) {
  const Framework framework(8, 8, true);
  for (const Layout& rows : test::layouts_of_points(64, 2)) {
    const Matrix A = shared(test::distribute(framework.A, rows));
    Hierarchy<double> hierarchy(A, aggregation_options(2), rigid_knowledge(framework, rows));
    std::vector<DenseMatrix> before;
    for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
      before.push_back(gathered(*hierarchy.matrix(l)));
    }
    hierarchy.rebuild(shared(test::distribute(3.0 * framework.A, rows)));
    for (std::size_t l = 0; l < before.size(); ++l) {
      expect_near(gathered(*hierarchy.matrix(l)), 3.0 * before[l], 1e-13, "rebuilt");
    }
    hierarchy.rebuild(A);
    for (std::size_t l = 0; l < before.size(); ++l) {
      expect_near(gathered(*hierarchy.matrix(l)), before[l], 0, "rebuilt with the old values");
    }
  }
}

TEST(Aggregation, OfVirtualRanksIsThatOfRealOnes) {
  const Framework framework(10, 10, true);
  const auto serial_layout = Layout::uniform(test::self_comm(), 200);
  const Matrix serial = shared(test::distribute(framework.A, serial_layout));
  Options options = aggregation_options(2);
  for (const char* kind : {"independent_set", "standard"}) {
    options.set("aggregates", kind);
    for (const Layout& rows : test::layouts_of_points(100, 2)) {
      const Matrix A = shared(test::distribute(framework.A, rows));
      const Hierarchy<double> real(A, options, rigid_knowledge(framework, rows));
      ProblemInfo<double> knowledge = rigid_knowledge(framework, serial_layout);
      knowledge.virtual_starts.assign(rows.starts().begin(), rows.starts().end());
      const Hierarchy<double> virtual_one(serial, options, knowledge);
      ASSERT_EQ(virtual_one.levels().size(), real.levels().size());
      for (std::size_t l = 0; l < real.levels().size(); ++l) {
        const auto starts = virtual_one.virtual_starts(l);
        const auto expected = real.matrix(l)->rows().starts();
        EXPECT_TRUE(std::equal(starts.begin(), starts.end(), expected.begin(), expected.end()))
            << "level " << l;
      }
    }
  }
}

}  // namespace amg_aggregation_test
}  // namespace nodewise::amg
