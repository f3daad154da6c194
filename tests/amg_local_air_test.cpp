// Local approximate ideal restriction and one-point interpolation against their definitions
// written down for dense matrices.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/amg/restriction/local_air.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "problem_support.hpp"

namespace nodewise::amg {
namespace amg_local_air_test {

using coarsen::coarse;
using coarsen::fine;
using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::gathered;
using test::layouts_of;
using test::test_comm;

using States = std::vector<int>;
using Points = std::vector<GlobalIndex>;

States random_states(GlobalIndex n, std::uint64_t seed) {
  States states;
  for (GlobalIndex i = 0; i < n; ++i) {
    states.push_back(hash_uniform(static_cast<std::uint64_t>(i), seed) < 0.3 ? coarse : fine);
  }
  return states;
}

bool is_coarse(const States& states, GlobalIndex i) {
  return states[static_cast<std::size_t>(i)] == coarse;
}

/// Gaussian elimination, for systems that need no pivots.
std::vector<double> solved(DenseMatrix B, std::vector<double> b) {
  const GlobalIndex n = B.rows();
  const auto at = [&b](GlobalIndex i) -> double& { return b[static_cast<std::size_t>(i)]; };
  for (GlobalIndex p = 0; p < n; ++p) {
    for (GlobalIndex i = p + 1; i < n; ++i) {
      const double factor = B(i, p) / B(p, p);
      for (GlobalIndex j = p; j < n; ++j) B(i, j) -= factor * B(p, j);
      at(i) -= factor * at(p);
    }
  }
  for (GlobalIndex p = n; p-- > 0;) {
    for (GlobalIndex j = p + 1; j < n; ++j) at(p) -= B(p, j) * at(j);
    at(p) /= B(p, p);
  }
  return b;
}

/// Row by row: the neighbourhood by its definition, then the system on it.
DenseMatrix reference_restriction(const DenseMatrix& A, const States& states, int distance,
                                  double threshold) {
  const Dense<int> strong = test::reference_strength(A, threshold, 1.0, StrengthMeasure::absolute);
  const auto near = [&](GlobalIndex i, GlobalIndex j) {
    return strong(i, j) == 1 && !is_coarse(states, j);
  };
  DenseMatrix R(std::count(states.begin(), states.end(), coarse), A.rows());
  GlobalIndex c = 0;
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    if (!is_coarse(states, i)) continue;
    Points points;
    for (GlobalIndex k = 0; k < A.rows(); ++k) {
      bool in = near(i, k);
      for (GlobalIndex j = 0; j < A.rows() && distance == 2; ++j) {
        in = in || (near(i, j) && near(j, k));
      }
      if (in) points.push_back(k);
    }
    const auto n = static_cast<GlobalIndex>(points.size());
    DenseMatrix B(n, n);
    std::vector<double> b;
    for (GlobalIndex k = 0; k < n; ++k) {
      const GlobalIndex column = points[static_cast<std::size_t>(k)];
      for (GlobalIndex j = 0; j < n; ++j) B(k, j) = A(points[static_cast<std::size_t>(j)], column);
      b.push_back(-A(i, column));
    }
    const std::vector<double> weights = solved(B, b);
    R(c, i) = 1;
    for (std::size_t j = 0; j < points.size(); ++j) R(c, points[j]) = weights[j];
    ++c;
  }
  return R;
}

template <class T = double>
matrix::DistMatrix<T> restriction_of(const DenseMatrix& values, const matrix::Layout& layout,
                                     const States& states, int distance, double threshold) {
  const auto A = distribute<T>(values, layout);
  const coarsen::Splitting splitting = test::splitting_part(layout, states);
  return restriction::local_air(A, splitting, coarsen::coarse_layout(layout, splitting),
                                {distance, threshold});
}

std::vector<test::NamedMatrix> nonsymmetric_matrices() {
  std::vector<test::NamedMatrix> matrices = test::level_matrices();
  matrices.push_back({"rotating flow",
                      gathered(io::generate<double>(
                          test::self_comm(),
                          test::flow_problem("convection2d", 7, {.flow = test::Flow::rotating})))});
  return matrices;
}

TEST(LocalAir, SolvesTheEquationsOfTheNeighbourhood) {
  for (const auto& [name, values] : nonsymmetric_matrices()) {
    for (const int distance : {1, 2}) {
      for (const double threshold : {0.0, 0.05, 0.4}) {
        const States states = random_states(values.rows(), 3);
        const DenseMatrix expected = reference_restriction(values, states, distance, threshold);
        for (const matrix::Layout& layout :
             layouts_of(test_comm(), values.rows(), (GlobalIndex{1} << 40) + 5)) {
          const auto R = restriction_of(values, layout, states, distance, threshold);
          test::expect_invariants(R);
          EXPECT_EQ(R.cols(), layout);
          test::expect_near(gathered(R), expected, 1e-11, name);
        }
      }
    }
  }
}

// Not up to round-off only: a level's rows do not depend on where its points live.
TEST(LocalAir, IsTheSameToTheLastBitOnAllLayouts) {
  const DenseMatrix values = test::random_matrix(50, 0.1, 0.3, 7);
  const States states = random_states(values.rows(), 4);
  for (const int distance : {1, 2}) {
    const DenseMatrix expected = gathered(restriction_of(
        values, matrix::Layout::uniform(test::self_comm(), values.rows()), states, distance, 0.05));
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      EXPECT_EQ(gathered(restriction_of(values, layout, states, distance, 0.05)), expected);
    }
  }
}

/// Of what the whole rows have.
TEST(LocalAir, DropsSmallWeights) {
  const DenseMatrix values = test::random_matrix(50, 0.1, 0.3, 7);
  const States states = random_states(values.rows(), 4);
  DenseMatrix expected = reference_restriction(values, states, 2, 0.05);
  int n_dropped = 0;
  for (GlobalIndex c = 0; c < expected.rows(); ++c) {
    double largest = 0;
    for (GlobalIndex j = 0; j < expected.cols(); ++j) {
      largest = std::max(largest, std::abs(expected(c, j)));
    }
    for (GlobalIndex j = 0; j < expected.cols(); ++j) {
      if (expected(c, j) == 0 || std::abs(expected(c, j)) >= 0.1 * largest) continue;
      expected(c, j) = 0;
      ++n_dropped;
    }
  }
  ASSERT_GT(n_dropped, 0);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const coarsen::Splitting splitting = test::splitting_part(layout, states);
    const auto R =
        restriction::local_air(distribute(values, layout), splitting,
                               coarsen::coarse_layout(layout, splitting), {2, 0.05, 0.1});
    test::expect_near(gathered(R), expected, 1e-11, "truncated");
    EXPECT_EQ(R.nnz_global(), std::count_if(expected.data(), expected.data() + expected.size(),
                                            [](double r) { return r != 0; }));
  }
}

TEST(LocalAir, TakesAllRoutes) {
  const DenseMatrix values = test::random_matrix(40, 0.15, 0.0, 8);
  const States states = random_states(values.rows(), 5);
  const DenseMatrix expected = reference_restriction(values, states, 2, 0.05);
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const matrix::Layout layout = matrix::Layout::uniform(comm, values.rows());
    const coarsen::Splitting splitting = test::splitting_part(layout, states);
    const comm::Layout coarse_points = coarsen::coarse_layout(layout, splitting);
    for (const auto route : {"two_step", "three_step"}) {
      const auto A = distribute(values, layout).with_route(route);
      const auto R = restriction::local_air(A, splitting, coarse_points, {2, 0.05});
      test::expect_near(gathered(R), expected, 1e-11, map.name);
    }
  }
}

TEST(LocalAir, InSinglePrecision) {
  const DenseMatrix values = test::random_matrix(40, 0.15, 0.2, 9);
  const States states = random_states(values.rows(), 6);
  const auto R =
      restriction_of<float>(values, matrix::Layout::uniform(test_comm(), 40), states, 2, 0.05);
  test::expect_near(gathered(R), reference_restriction(values, states, 2, 0.05), 1e-5, "float");
}

TEST(LocalAir, OfAllCoarsePointsIsTheIdentityAndOfNoneIsEmpty) {
  const DenseMatrix values = test::model("laplace5", 4);
  const matrix::Layout layout = matrix::Layout::uniform(test_comm(), 16);
  DenseMatrix identity(16, 16);
  for (GlobalIndex i = 0; i < 16; ++i) identity(i, i) = 1;
  EXPECT_EQ(gathered(restriction_of(values, layout, States(16, coarse), 2, 0.05)), identity);
  EXPECT_EQ(restriction_of(values, layout, States(16, fine), 2, 0.05).rows().n_global(), 0);
}

/// One coarse point, 0, coupled to fine points whose block of A is given.
DenseMatrix one_coarse_point(const std::vector<double>& couplings, const DenseMatrix& block) {
  const GlobalIndex n = block.rows();
  DenseMatrix A(n + 1, n + 1);
  A.put(1, 1, block);
  A(0, 0) = 1;
  for (GlobalIndex k = 0; k < n; ++k) A(0, k + 1) = couplings[static_cast<std::size_t>(k)];
  return A;
}

void expect_row(const DenseMatrix& A, const std::vector<double>& expected, double tolerance) {
  States states(static_cast<std::size_t>(A.rows()), fine);
  states[0] = coarse;
  for (const matrix::Layout& layout : layouts_of(test_comm(), A.rows())) {
    const DenseMatrix row = gathered(restriction_of(A, layout, states, 1, 0.0));
    ASSERT_EQ(row.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(row.data()[k], expected[k], tolerance) << k;
    }
  }
}

TEST(LocalAir, OfSingularSystemsIsTheShortestSolution) {
  DenseMatrix ones(2, 2);
  ones.fill(1);
  expect_row(one_coarse_point({2, 2}, ones), {1, -1, -1}, 1e-12);  // r1 + r2 = -2
  expect_row(one_coarse_point({1, 3}, ones), {1, -1, -1}, 1e-12);  // -1 and -3: the mean
  DenseMatrix nearly = ones;
  nearly(1, 1) = 1 + 1e-14;
  expect_row(one_coarse_point({1, 3}, nearly), {1, -1, -1}, 1e-10);
  expect_row(one_coarse_point({1, 3}, DenseMatrix(2, 2)), {1, 0, 0}, 0);  // nothing to go by
  // Badly scaled, not singular: 1e-9 r1 = -1, 1e9 r2 = -1.
  DenseMatrix scaled(2, 2);
  scaled(0, 0) = 1e-9;
  scaled(1, 1) = 1e9;
  expect_row(one_coarse_point({1, 1}, scaled), {1, -1e9, -1e-9}, 1e-3);
}

TEST(LocalAir, OfLongRowsTakesTheLargestCouplings) {
  const GlobalIndex n = 300;
  DenseMatrix block(n, n);
  std::vector<double> couplings;
  for (GlobalIndex k = 0; k < n; ++k) {
    block(k, k) = 2;
    couplings.push_back(1 + static_cast<double>(k * 37 % n));  // all different
  }
  std::vector<double> expected = {1};
  for (const double a : couplings) {
    expected.push_back(a > static_cast<double>(n) - restriction::max_points ? -a / 2 : 0);
  }
  expect_row(one_coarse_point(couplings, block), expected, 1e-12);
}

TEST(LocalAir, OfAnotherDistanceIsRefused) {
  const DenseMatrix values = test::model("laplace5", 4);
  const matrix::Layout layout = matrix::Layout::uniform(test_comm(), 16);
  for (const int distance : {0, 3}) {
    const std::string text = test::expect_same_error(
        *test_comm(), ErrorCode::invalid_argument,
        [&] { restriction_of(values, layout, random_states(16, 1), distance, 0.05); });
    EXPECT_EQ(text, "restriction: the distance is " + std::to_string(distance) + ", needs 1 or 2");
  }
}

/// The first of the points that count as the largest.
DenseMatrix reference_one_point(const DenseMatrix& A, const States& states, double threshold) {
  const Dense<int> strong = test::reference_strength(A, threshold, 1.0, StrengthMeasure::absolute);
  DenseMatrix P(A.rows(), std::count(states.begin(), states.end(), coarse));
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    GlobalIndex chosen = -1;
    double largest = 0;
    GlobalIndex c = -1;
    for (GlobalIndex j = 0; j < A.rows(); ++j) {
      if (!is_coarse(states, j)) continue;
      ++c;
      if (i == j) {
        chosen = c;
        break;
      }
      if (is_coarse(states, i) || strong(i, j) == 0) continue;
      if (std::abs(A(i, j)) > 1.01 * largest) {  // no two differ by less but by round-off
        chosen = c;
        largest = std::abs(A(i, j));
      }
    }
    if (chosen >= 0) P(i, chosen) = 1;
  }
  return P;
}

TEST(OnePoint, ChoosesTheStrongestCoarsePoint) {
  std::vector<test::NamedMatrix> matrices = nonsymmetric_matrices();
  for (auto& [name, values] : matrices) {
    // Couplings of few sizes, many of them equal but for round-off.
    for (GlobalIndex k = 0; k < static_cast<GlobalIndex>(values.size()); ++k) {
      double& a = values.data()[static_cast<std::size_t>(k)];
      a = std::copysign(std::ceil(4 * std::abs(a)) / 4 * (1 + 1e-12 * static_cast<double>(k % 5)),
                        a);
    }
    const States states = random_states(values.rows(), 6);
    const DenseMatrix expected = reference_one_point(values, states, 0.25);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), 1000)) {
      const auto A = distribute(values, layout);
      const coarsen::Splitting splitting = test::splitting_part(layout, states);
      const Strength strength = strength_of_connection(A, 0.25, 1.0, StrengthMeasure::absolute);
      const auto P = interpolate::one_point(A, strength, splitting,
                                            coarsen::coarse_layout(layout, splitting), {4, 0.1});
      test::expect_invariants(P);
      EXPECT_EQ(gathered(P), expected) << name;
    }
  }
}

}  // namespace amg_local_air_test
}  // namespace nodewise::amg
