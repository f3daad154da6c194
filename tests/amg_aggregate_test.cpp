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

/// The four rules of Bienz 2018, section 7.2.2, as they stand there; a diagonal without entry
/// counts as positive. Norms are compared by their size alone.
Dense<int> reference_either(const DenseMatrix& A, double threshold, StrengthMeasure measure) {
  Dense<int> marks(A.rows(), A.cols());
  const auto passes = [&](double value, GlobalIndex row) {
    double least = 0, most = 0;
    for (GlobalIndex k = 0; k < A.cols(); ++k) {
      if (k == row) continue;
      const double other = measure == StrengthMeasure::absolute ? std::abs(A(row, k)) : A(row, k);
      least = std::min(least, other);
      most = std::max(most, other);
    }
    if (measure == StrengthMeasure::absolute) return std::abs(value) > threshold * most;
    return A(row, row) < 0 ? value > threshold * most : value < threshold * least;
  };
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      marks(i, j) = i != j && A(i, j) != 0 && (passes(A(i, j), i) || passes(A(i, j), j)) ? 1 : 0;
    }
  }
  return marks;
}

/// The graphs, and symmetric and nonsymmetric matrices of both signs: some diagonals negative, some
/// absent, a row without negative entries.
std::vector<std::pair<std::string, DenseMatrix>> graphs_of_both_signs() {
  auto all = test::graphs();
  for (const bool symmetric : {true, false}) {
    DenseMatrix A = symmetric ? test::random_symmetric(40, 0.12, 0.5, 7)
                              : test::random_matrix(40, 0.12, 0.5, 7);
    for (GlobalIndex i = 0; i < A.rows(); ++i) {
      if (i % 3 == 1) A(i, i) = -std::abs(A(i, i));
      if (i % 7 == 2) A(i, i) = 0;
      if (i != 6) A(6, i) = A(i, 6) = std::abs(A(i, 6));
    }
    all.emplace_back(symmetric ? "both signs" : "nonsymmetric", A);
  }
  return all;
}

TEST(EitherStrength, EqualsItsDefinitionOnEveryLayout) {
  for (const auto& [name, A] : graphs_of_both_signs()) {
    for (const auto measure : {StrengthMeasure::opposite_sign, StrengthMeasure::absolute}) {
      for (const double threshold : {0.0, 0.25, 0.5, 1.0}) {
        const Dense<int> expected = reference_either(A, threshold, measure);
        for (const matrix::Layout& layout : layouts_of(test_comm(), A.rows(), 30)) {
          const auto G = distribute(A, layout);
          EXPECT_TRUE(test::gathered_marks(G, either_strength(G, threshold, measure)) == expected)
              << name << ", threshold " << threshold;
        }
      }
    }
  }
}

// Row or row of the other: the classical marks and their transpose, where the matrix is symmetric.
TEST(EitherStrength, IsTheClassicalOneMadeSymmetric) {
  for (const auto& [name, A] : graphs_of_both_signs()) {
    if (!(A == A.transpose())) continue;
    const Dense<int> classical = test::reference_strength(A, 0.5, 1.0);
    const auto G = distribute(A, matrix::Layout::uniform(test_comm(), A.rows()));
    const Dense<int> got =
        test::gathered_marks(G, either_strength(G, 0.5, StrengthMeasure::opposite_sign));
    for (GlobalIndex i = 0; i < A.rows(); ++i) {
      for (GlobalIndex j = 0; j < A.cols(); ++j) {
        EXPECT_EQ(got(i, j), classical(i, j) | classical(j, i)) << name << " " << i << " " << j;
      }
    }
  }
}

TEST(EitherStrength, NeedsOneExchange) {
  const auto A = distribute(test::model("laplace9", 9), matrix::Layout::uniform(test_comm(), 81));
  const auto messages = [&](auto&& work) {
    A.comm().ledger().clear();
    work();
    std::int64_t sum = 0;
    for (const auto& account : A.comm().ledger().accounts()) {
      sum += account.counts.messages_on_node + account.counts.messages_off_node;
    }
    return sum;
  };
  const std::int64_t of_symmetric = messages([&] { symmetric_strength(A, 0.25); });
  EXPECT_EQ(messages([&] { either_strength(A, 0.0, StrengthMeasure::opposite_sign); }),
            of_symmetric);
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
