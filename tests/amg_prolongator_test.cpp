// Tentative and smoothed prolongators against plain references on every rank.
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/amg/aggregate/graph.hpp"
#include "nodewise/amg/aggregate/orthonormal.hpp"
#include "nodewise/amg/aggregate/smooth.hpp"
#include "nodewise/amg/aggregate/tentative.hpp"
#include "nodewise/matrix/products.hpp"

#include "aggregate_support.hpp"
#include "prolongator_reference.hpp"

namespace nodewise::amg::aggregate {
namespace amg_prolongator_test {

using test::DenseMatrix;
using test::distribute;
using test::expect_near;
using test::gathered;
using test::gathered_vectors;
using test::layouts_of_points;
using test::part_of_vectors;
using test::Reference;
using test::reference_filtered;
using test::reference_smoothed;
using test::reference_tentative;
using test::test_comm;
using test::whole_vectors;

/// Aggregates of n points by number; a root in the middle of each decides on the rank, so that
/// members are on other ranks too. Every seventh point is in none.
struct GivenAggregates {
  std::vector<int> of_point;
  int size = 0;
};

GivenAggregates given(GlobalIndex n, GlobalIndex points_each) {
  GivenAggregates result;
  for (GlobalIndex i = 0; i < n; ++i) {
    result.of_point.push_back(i % 7 == 3 ? -1 : static_cast<int>(i / points_each));
  }
  result.size = static_cast<int>((n + points_each - 1) / points_each);
  return result;
}

Aggregates distributed(const GivenAggregates& whole, const matrix::Layout& points,
                       GlobalIndex points_each) {
  GlobalIndex owned = 0;
  for (int a = 0; a < whole.size; ++a) {
    const GlobalIndex root = std::min(a * points_each + points_each / 2, points.n_global() - 1);
    owned += points.owns(points.first() + root) ? 1 : 0;
  }
  Aggregates result{matrix::Layout::from_local_size(points.shared_comm(), owned), {}, {}};
  for (GlobalIndex i = points.begin(); i < points.end(); ++i) {
    result.of_point.push_back(whole.of_point[static_cast<std::size_t>(i - points.first())]);
  }
  return result;
}

TEST(LocalFactors, AreOrthonormalAndGiveTheRowsBack) {
  const std::vector<double> rows = {1, 2, 0, 1, 1, 3, 1, 0, -2, 1, -1, 5};
  std::vector<double> Q = rows, R(9);
  factorise(Q, 3, 1e-10, R);
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> row(rows.begin() + std::ptrdiff_t(3 * i),
                            rows.begin() + std::ptrdiff_t(3 * i + 3));
    divide_by_factor(row, R);
    for (std::size_t j = 0; j < 3; ++j) {
      double product = 0;
      for (std::size_t c = 0; c < 3; ++c) product += Q[3 * i + c] * R[3 * c + j];
      EXPECT_NEAR(product, rows[3 * i + j], 1e-14);
      EXPECT_NEAR(row[j], Q[3 * i + j], 1e-14);
    }
  }
}

// Units are powers of two, which change no digit.
TEST(LocalFactors, DoNotDependOnTheUnitsOfAVector) {
  const std::vector<double> rows = {1, 2, 0, 1, 1, 3, 1, 0, -2, 1, -1, 5};
  const std::vector<double> units = {std::ldexp(1.0, 700), std::ldexp(1.0, -700), 1};
  std::vector<double> Q = rows, R(9), scaled = rows, of_scaled(9);
  for (std::size_t p = 0; p < rows.size(); ++p) scaled[p] *= units[p % 3];
  factorise(Q, 3, 1e-10, R);
  factorise(scaled, 3, 1e-10, of_scaled);
  EXPECT_EQ(scaled, Q);
  for (std::size_t p = 0; p < R.size(); ++p) EXPECT_EQ(of_scaled[p], R[p] * units[p % 3]) << p;
}

TEST(Tentative, IsThatOfTheReferenceOnEveryLayout) {
  const GlobalIndex n = 23;
  for (const int unknowns : {1, 2, 3}) {
    for (const int vectors : {1, 3, 6}) {
      for (const GlobalIndex each : {1, 4, 23}) {  // single points have too few rows for 3 or 6
        const DenseMatrix B = whole_vectors(n * unknowns, vectors, unknowns);
        const GivenAggregates whole = given(n, each);
        const Reference expected = reference_tentative(whole.of_point, whole.size, unknowns, B);
        for (const matrix::Layout& rows : layouts_of_points(n, unknowns)) {
          const Aggregates aggregates = distributed(whole, points_of(rows, unknowns), each);
          const auto [T, R] =
              tentative_prolongator(aggregates, unknowns, rows, part_of_vectors<double>(rows, B));
          test::expect_invariants(T);
          const std::string what = std::to_string(unknowns) + " unknowns, " +
                                   std::to_string(vectors) + " vectors, " + std::to_string(each);
          expect_near(gathered(T), expected.Q, 1e-12, "Q, " + what);
          expect_near(gathered_vectors(*test_comm(), R), expected.R, 1e-12, "R, " + what);
          const auto single =
              tentative_prolongator(aggregates, unknowns, rows, part_of_vectors<float>(rows, B));
          expect_near(gathered(single.prolongator), expected.Q, 1e-4, "Q in float, " + what);
        }
      }
    }
  }
}

TEST(Tentative, KeepsNoEntriesForPointsInNoAggregate) {
  const GlobalIndex n = 23;
  const GivenAggregates whole = given(n, 4);
  for (const matrix::Layout& rows : layouts_of_points(n, 2)) {
    const Aggregates aggregates = distributed(whole, points_of(rows, 2), 4);
    const auto B = part_of_vectors<double>(rows, whole_vectors(2 * n, 3, 2));
    const auto T = tentative_prolongator(aggregates, 2, rows, B).prolongator;
    const auto members = static_cast<GlobalIndex>(
        std::count_if(whole.of_point.begin(), whole.of_point.end(), [](int a) { return a >= 0; }));
    EXPECT_EQ(T.nnz_global(), members * 2 * 3);
  }
}

TEST(Tentative, RefusesWhatDoesNotFit) {
  const auto rows = layouts_of_points(9, 2).front();
  Aggregates aggregates = distributed(given(9, 3), points_of(rows, 2), 3);
  const auto B = part_of_vectors<double>(rows, whole_vectors(18, 2, 2));
  const auto refused = [&](int unknowns, const NearNullSpace<double>& vectors) {
    const std::string text = test::expect_same_error(
        *test_comm(), ErrorCode::dimension_mismatch,
        [&] { tentative_prolongator(aggregates, unknowns, rows, vectors); });
    EXPECT_NE(text.find("do not fit"), std::string::npos) << text;
  };
  refused(3, B);
  refused(2, {});
  auto longer = B;
  if (test_comm()->rank() == 0) longer.values.push_back(1);
  refused(2, longer);
}

TEST(UnitRows, StandWhereAPointHasFewerVectors) {
  const GlobalIndex n = 12;
  const DenseMatrix A = test::random_symmetric(2 * n, 0.3, 0.2, 9);
  GivenAggregates whole = given(n, 1);  // single points of two rows, but three vectors
  std::iota(whole.of_point.begin(), whole.of_point.end(), 0);
  for (const matrix::Layout& rows : layouts_of_points(n, 2)) {
    const auto B = part_of_vectors<double>(rows, whole_vectors(2 * n, 3, 2));
    const auto T =
        tentative_prolongator(distributed(whole, points_of(rows, 2), 1), 2, rows, B).prolongator;
    const auto product = matrix::galerkin_product(distribute(A, rows), T);
    const DenseMatrix before = gathered(product);
    DenseMatrix expected = before;
    int units = 0;
    for (GlobalIndex i = 0; i < expected.rows(); ++i) {
      if (before(i, i) != 0) continue;
      const GlobalIndex first = i - i % 3;
      const double most =
          std::max({before(first, first), before(first + 1, first + 1), before(i, i)});
      expected(i, i) = most == 0 ? 1 : most;
      ++units;
    }
    EXPECT_GE(units, n);
    expect_near(gathered(with_unit_rows(product, 3)), expected, 0, "unit rows");
  }
}

TEST(UnitRows, LeaveOtherMatricesAlone) {
  for (const matrix::Layout& rows : layouts_of_points(8, 2)) {
    const auto A = distribute(test::random_symmetric(16, 0.3, 0.2, 9), rows);
    const auto same = with_unit_rows(A, 2);
    EXPECT_EQ(same.on().vals.data(), A.on().vals.data());
  }
}

TEST(SmoothedProlongator, IsThatOfTheReferenceOnEveryLayout) {
  const GlobalIndex n = 20;
  DenseMatrix A = test::random_matrix(n, 0.2, 0.3, 6);
  A(4, 4) = 0;  // stays as it is in P
  for (const int vectors : {1, 2}) {
    const DenseMatrix B = whole_vectors(n, vectors, 1);
    const GivenAggregates whole = given(n, 3);
    const Reference tentative = reference_tentative(whole.of_point, whole.size, 1, B);
    for (const matrix::Layout& rows : test::layouts_of(test_comm(), n, 40)) {
      const auto T = tentative_prolongator(distributed(whole, points_of(rows, 1), 3), 1, rows,
                                           part_of_vectors<double>(rows, B))
                         .prolongator;
      for (const int sweeps : {0, 1, 2, 3}) {
        const auto P = smooth_prolongator(distribute(A, rows), T, 0.7, sweeps);
        test::expect_invariants(P);
        expect_near(gathered(P), reference_smoothed(A, tentative.Q, 0.7, sweeps), 1e-13,
                    std::to_string(sweeps) + " sweeps");
      }
    }
  }
}

// Block by block, where the matrix has blocks and vectors make such of the prolongator.
TEST(SmoothedProlongator, IsThatOfTheReferenceInBlocks) {
  const GlobalIndex n = 12;
  for (const auto& [unknowns, vectors] : {std::pair{2, 3}, {3, 6}, {3, 3}, {3, 4}}) {
    DenseMatrix A = test::random_matrix(n * unknowns, 0.2, 0.3, 6);
    A(4, 4) = 0;
    const DenseMatrix B = whole_vectors(n * unknowns, vectors, unknowns);
    const GivenAggregates whole = given(n, 3);
    const Reference tentative = reference_tentative(whole.of_point, whole.size, unknowns, B);
    for (const matrix::Layout& rows : layouts_of_points(n, unknowns)) {
      const auto T = tentative_prolongator(distributed(whole, points_of(rows, unknowns), 3),
                                           unknowns, rows, part_of_vectors<double>(rows, B))
                         .prolongator;
      const auto blocks = distribute(A, rows).with_blocks(unknowns);
      for (const int sweeps : {1, 2, 3}) {
        const auto P = smooth_prolongator(blocks, T, 0.7, sweeps, vectors);
        test::expect_invariants(P);
        expect_near(gathered(P), reference_smoothed(A, tentative.Q, 0.7, sweeps), 1e-12,
                    std::to_string(sweeps) + " sweeps");
      }
    }
  }
}

TEST(SmoothedProlongator, RefusesOtherShapes) {
  const auto rows = matrix::Layout::uniform(test_comm(), 6);
  const auto A = distribute(test::random_symmetric(6, 0.5, 0, 1), rows);
  const auto other =
      distribute(test::random_symmetric(7, 0.5, 0, 1), matrix::Layout::uniform(test_comm(), 7));
  test::expect_same_error(*test_comm(), ErrorCode::dimension_mismatch,
                          [&] { smooth_prolongator(A, other, 0.5, 1); });
}

TEST(FilteredMatrix, IsThatOfTheReferenceOnEveryLayout) {
  for (const int k : {1, 2, 3}) {
    const GlobalIndex n = 14;
    DenseMatrix A = test::random_symmetric(n * k, 0.3, 0.5, 11);
    // What is lumped must take some diagonals away, so that both cases occur.
    for (GlobalIndex i = 0; i < n * k; i += 3) A(i, i) *= 0.4;
    for (const matrix::Layout& rows : layouts_of_points(n, k)) {
      const auto dist = distribute(A, rows);
      const auto graph = block_norms(dist, k);
      const double threshold = 0.12;
      const Strength strength = symmetric_strength(graph, threshold);
      const auto marks = test::gathered_marks(graph, strength);
      EXPECT_GT(marks.sum(), 0);
      EXPECT_LT(marks.sum(), graph.nnz_global() - n);
      const auto filtered = without_weak_entries(dist, graph, strength, k);
      test::expect_invariants(filtered);
      const DenseMatrix expected = reference_filtered(A, marks, k);
      expect_near(gathered(filtered), expected, 1e-14, std::to_string(k) + " unknowns");
      // Vectors that are constant in every unknown see no difference.
      const DenseMatrix constants = whole_vectors(n * k, k, k);
      expect_near(expected * constants, A * constants, 1e-13, "row sums");
    }
  }
}

}  // namespace amg_prolongator_test
}  // namespace nodewise::amg::aggregate
