// Strength between points, independent sets and aggregates against plain references on every rank.
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/aggregate/graph.hpp"

#include "aggregate_support.hpp"

namespace nodewise::amg::aggregate {
namespace amg_aggregate_test {

using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::layouts_of;
using test::test_comm;

TEST(AggregationGraph, HasTheNormsOfTheBlocks) {
  for (const int k : {1, 2, 3}) {
    const GlobalIndex n = 7;
    DenseMatrix A = test::random_matrix(n * k, 0.15, 0.4, 3);
    DenseMatrix norms(n, n);
    for (GlobalIndex i = 0; i < n * k; ++i) {
      for (GlobalIndex j = 0; j < n * k; ++j) norms(i / k, j / k) += A(i, j) * A(i, j);
    }
    for (std::size_t p = 0; p < norms.size(); ++p) norms.data()[p] = std::sqrt(norms.data()[p]);
    for (const matrix::Layout& rows : test::layouts_of_points(n, k)) {
      const auto G = block_norms(distribute(A, rows), k);
      test::expect_invariants(G);
      EXPECT_EQ(G.rows().n_global(), n);
      test::expect_near(test::gathered(G), norms, 1e-14, "norms of blocks");
      if (k > 1) {
        const auto in_blocks = block_norms(distribute(A, rows).with_blocks(k), k);
        test::expect_invariants(in_blocks);
        test::expect_near(test::gathered(in_blocks), norms, 1e-14, "norms of blocks at hand");
      }
      const auto single = block_norms(distribute<float>(A, rows), k);
      test::expect_near(test::gathered(single), norms, 1e-6, "norms of blocks, float");
    }
  }
}

// Bit for bit, also where squares would leave the range of double.
TEST(AggregationGraph, ScalesWithTheUnits) {
  const int k = 3;
  const DenseMatrix A = test::random_matrix(7 * k, 0.15, 0.4, 3);
  for (const double unit : {0x1p-600, 0x1p600}) {
    for (const matrix::Layout& rows : test::layouts_of_points(7, k)) {
      const auto plain = distribute(A, rows), scaled = distribute(unit * A, rows);
      const DenseMatrix expected = unit * test::gathered(block_norms(plain, k));
      EXPECT_EQ(test::gathered(block_norms(scaled, k)), expected);
      EXPECT_EQ(test::gathered(block_norms(scaled.with_blocks(k), k)), expected);
    }
  }
}

TEST(AggregationGraph, RefusesPointsInPieces) {
  const auto layout = matrix::Layout::uniform(test_comm(), 7);
  const auto A = distribute(test::random_symmetric(7, 0.5, 0, 1), layout);
  test::expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] { block_norms(A, 2); });
}

TEST(SymmetricStrength, EqualsItsDefinitionOnEveryLayout) {
  for (const auto& [name, A] : test::graphs()) {
    for (const double threshold : {0.0, 0.05, 0.25}) {
      const Dense<int> expected = test::reference_strength(A, threshold);
      for (const matrix::Layout& layout : layouts_of(test_comm(), A.rows(), 30)) {
        const auto G = distribute(A, layout);
        const Strength strength = symmetric_strength(G, threshold);
        EXPECT_TRUE(test::gathered_marks(G, strength) == expected)
            << name << ", threshold " << threshold;
      }
    }
  }
}

TEST(SymmetricStrength, MarksNoZerosAndNoNaN) {
  DenseMatrix A(3, 3);
  A(0, 0) = A(1, 1) = 1;
  A(0, 1) = A(1, 0) = std::numeric_limits<double>::quiet_NaN();
  A(1, 2) = A(2, 1) = 1e-30;  // point 2 has no diagonal: whatever it has is strong
  for (const matrix::Layout& layout : layouts_of(test_comm(), 3)) {
    // The assembled matrix has a stored zero, which distribute() would leave out.
    const auto G =
        matrix::matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, auto&& emit) {
          for (GlobalIndex j = 0; j < 3; ++j) emit(j, A(i, j));
        });
    Dense<int> expected(3, 3);
    expected(1, 2) = expected(2, 1) = 1;
    for (const double threshold : {0.0, 0.5}) {
      EXPECT_TRUE(test::gathered_marks(G, symmetric_strength(G, threshold)) == expected);
    }
  }
}

TEST(IndependentSet, IsThatOfTheReferenceOnEveryLayout) {
  for (const auto& [name, A] : test::graphs()) {
    const Dense<int> marks = test::reference_strength(A, 0.05);
    for (const int distance : {1, 2, 3, 4}) {
      const std::vector<int> expected = test::reference_independent_set(marks, distance, 7);
      test::expect_maximal_and_independent(marks, expected, distance, name);
      for (const matrix::Layout& layout : layouts_of(test_comm(), A.rows(), 30)) {
        const auto G = distribute(A, layout);
        const auto set = maximal_independent_set(G, symmetric_strength(G, 0.05), {distance, 7});
        EXPECT_EQ(test::gathered_numbers(G.comm(), set), expected)
            << name << ", distance " << distance;
        const auto sooner =
            maximal_independent_set(G, symmetric_strength(G, 0.05), {distance, 7, true});
        EXPECT_EQ(sooner, set) << name << ", distance " << distance;
      }
    }
  }
}

TEST(IndependentSet, EndsForAGraphThatIsNotSymmetric) {
  const DenseMatrix A = test::random_matrix(40, 0.08, 0, 5);
  for (const matrix::Layout& layout : layouts_of(test_comm(), 40)) {
    const auto G = distribute(A, layout);
    const Strength strength = symmetric_strength(G, 0);
    const auto aggregates = independent_set_aggregates(G, strength, {2, 0});
    const auto of_point = test::gathered_numbers(G.comm(), aggregates.of_point);
    const auto marks = test::gathered_marks(G, strength);
    for (GlobalIndex i = 0; i < 40; ++i) {
      bool connected = false;
      for (GlobalIndex j = 0; j < 40; ++j) connected = connected || marks(i, j) != 0;
      EXPECT_EQ(of_point[static_cast<std::size_t>(i)] >= 0, connected) << i;
    }
  }
}

TEST(IndependentSet, RefusesADistanceBelowOne) {
  const auto A = distribute(test::model("laplace5", 3), matrix::Layout::uniform(test_comm(), 9));
  const Strength strength = symmetric_strength(A, 0);
  test::expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] {
    maximal_independent_set(A, strength, {0, 0});
  });
}

TEST(Aggregates, AreThoseOfTheReferenceOnEveryLayout) {
  for (const auto& [name, A] : test::graphs()) {
    const Dense<int> marks = test::reference_strength(A, 0.05);
    for (const int distance : {1, 2, 3}) {
      const auto roots = test::reference_independent_set(marks, distance, 0);
      const auto expected = test::reference_aggregates(A, marks, roots, distance);
      for (const matrix::Layout& layout : layouts_of(test_comm(), A.rows(), 30)) {
        const auto G = distribute(A, layout);
        const auto got = independent_set_aggregates(G, symmetric_strength(G, 0.05), {distance, 0});
        EXPECT_EQ(test::gathered_numbers(G.comm(), got.of_point), expected)
            << name << ", distance " << distance;
        EXPECT_EQ(got.layout.n_global(), std::count(roots.begin(), roots.end(), 1));
      }
    }
  }
}

TEST(Aggregates, StandardOnesAreThoseOfTheReference) {
  for (const auto& [name, A] : test::graphs()) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), A.rows(), 30)) {
      // Ranks aggregate by themselves: each as if it had no others.
      const Dense<int> marks = test::reference_strength(A, 0.05);
      for (const Joining joining : {Joining::most_connected, Joining::first}) {
        const auto expected = test::reference_standard(A, marks, layout, joining == Joining::first);
        const auto G = distribute(A, layout);
        const auto got = standard_aggregates(G, symmetric_strength(G, 0.05), {}, joining);
        EXPECT_EQ(test::gathered_numbers(G.comm(), got.of_point), expected) << name;
        EXPECT_EQ(got.layout.n_global(), 1 + *std::max_element(expected.begin(), expected.end()))
            << name;
        const auto alone = test::serial(A);
        std::vector<GlobalIndex> starts(layout.starts().begin(), layout.starts().end());
        for (GlobalIndex& start : starts) start -= layout.first();
        const auto of_virtual_ranks =
            standard_aggregates(alone, symmetric_strength(alone, 0.05), starts, joining);
        EXPECT_EQ(test::gathered_numbers(alone.comm(), of_virtual_ranks.of_point), expected)
            << name;
      }
    }
  }
}

TEST(Aggregates, HaveTheirRootsInOrder) {
  for (const auto& [name, A] : test::graphs()) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), A.rows())) {
      const auto G = distribute(A, layout);
      const Strength strength = symmetric_strength(G, 0.05);
      for (const Aggregates& got :
           {independent_set_aggregates(G, strength, {2, 0}), standard_aggregates(G, strength)}) {
        ASSERT_EQ(got.roots.size(), static_cast<std::size_t>(got.layout.n_local())) << name;
        EXPECT_TRUE(std::is_sorted(got.roots.begin(), got.roots.end())) << name;
        for (std::size_t a = 0; a < got.roots.size(); ++a) {
          EXPECT_EQ(got.of_point[static_cast<std::size_t>(got.roots[a])],
                    got.layout.begin() + static_cast<GlobalIndex>(a))
              << name;
        }
      }
    }
  }
}

TEST(Aggregates, CoverAGridInThrees) {
  // 27 neighbours on 9^3 points: standard aggregates are 3 x 3 x 3, as PyAMG has them too.
  const auto A = io::generate<double>(test::self_comm(), {.problem = "laplace27", .n = 9});
  const auto standard = standard_aggregates(A, symmetric_strength(A, 0));
  EXPECT_EQ(standard.layout.n_global(), 27);
}

}  // namespace amg_aggregate_test
}  // namespace nodewise::amg::aggregate
