// Long-range dependences and two-stage coarsening against their definitions.
#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/aggressive.hpp"

#include "amg_support.hpp"
#include "coarsen_reference.hpp"

namespace nodewise::amg::coarsen {
namespace amg_aggressive_test {

using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::gathered;
using test::gathered_splitting;
using test::layouts_of;
using test::test_comm;
using namespace test::coarsening;

Strength strength_of(const matrix::DistMatrix<double>& A) {
  return strength_of_connection(A, threshold, max_row_sum);
}

/// The coarse points, in their order.
std::vector<GlobalIndex> coarse_of(const std::vector<int>& state) {
  std::vector<GlobalIndex> points;
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (state[i] == coarse) points.push_back(static_cast<GlobalIndex>(i));
  }
  return points;
}

/// How many paths of one or two dependences lead from each coarse point to each other; one of one
/// dependence counts twice.
Dense<int> reference_paths(const Dense<int>& s, const std::vector<GlobalIndex>& points) {
  const auto n = static_cast<GlobalIndex>(points.size());
  const auto at = [&](GlobalIndex c) { return points[static_cast<std::size_t>(c)]; };
  Dense<int> paths(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      if (i == j) continue;
      paths(i, j) = 2 * s(at(i), at(j));
      for (GlobalIndex k = 0; k < s.rows(); ++k) paths(i, j) += s(at(i), k) * s(k, at(j));
    }
  }
  return paths;
}

Dense<int> at_least(const Dense<int>& paths, int n_paths) {
  Dense<int> s(paths.rows(), paths.cols());
  for (GlobalIndex i = 0; i < s.rows(); ++i) {
    for (GlobalIndex j = 0; j < s.cols(); ++j) s(i, j) = paths(i, j) >= n_paths ? 1 : 0;
  }
  return s;
}

TEST(LongRange, CountsPathsOnEveryLayout) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    const auto state = reference_pmis(s, 0, all_undecided(values));
    const auto expected = reference_paths(s, coarse_of(state));
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), 1000)) {
      for (const int n_paths : {1, 2, 3}) {
        const auto A = distribute(values, layout);
        const Splitting splitting = test::splitting_part(layout, state);
        const auto far = long_range_dependences(A, strength_of(A), splitting,
                                                coarse_layout(layout, splitting), n_paths);
        test::expect_invariants(far.paths);
        const DenseMatrix paths = gathered(far.paths);
        ASSERT_EQ(paths.rows(), expected.rows());
        // The marks, as values of the matrix.
        Array<double> on(far.strength.on.begin(), far.strength.on.end());
        Array<double> off(far.strength.off.begin(), far.strength.off.end());
        const DenseMatrix marks = gathered(far.paths.with_values(std::move(on), std::move(off)));
        for (GlobalIndex i = 0; i < expected.rows(); ++i) {
          for (GlobalIndex j = 0; j < expected.cols(); ++j) {
            const int depends = expected(i, j) >= n_paths ? 1 : 0;
            EXPECT_EQ(paths(i, j), depends) << name << " " << i << " " << j;
            EXPECT_EQ(marks(i, j), depends) << name << " " << i << " " << j;
          }
        }
      }
    }
  }
}

std::vector<int> reference_aggressive(const Dense<int>& s, int n_paths, int seed) {
  const auto undecided_points = [](GlobalIndex n) {
    return std::vector<int>(static_cast<std::size_t>(n), undecided);
  };
  auto state = reference_pmis(s, seed, undecided_points(s.rows()));
  const auto points = coarse_of(state);
  const auto far = at_least(reference_paths(s, points), n_paths);
  const auto second = reference_pmis(far, seed, undecided_points(far.rows()));
  for (std::size_t c = 0; c < points.size(); ++c) {
    const auto row = static_cast<GlobalIndex>(c);
    bool depends = false;
    for (GlobalIndex j = 0; j < far.cols(); ++j) depends = depends || far(row, j) != 0;
    if (depends) state[static_cast<std::size_t>(points[c])] = second[c];
  }
  return state;
}

TEST(Aggressive, PmisTwiceIsTheSameOnEveryLayout) {
  for (const auto& [name, values] : matrices()) {
    for (const int n_paths : {1, 2}) {
      const auto expected = reference_aggressive(strong(values), n_paths, 3);
      for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
        const auto A = distribute(values, layout);
        const auto got = aggressive<double>(
            A, strength_of(A), n_paths, {},
            [](const auto& B, const Strength& s, auto) { return pmis(B, s, 3); });
        EXPECT_EQ(gathered_splitting(A.comm(), got), expected) << name << ", paths " << n_paths;
      }
    }
  }
}

TEST(Aggressive, HmisOfVirtualRanksIsThatOfRealOnes) {
  const Splitter<double> split = [](const auto& B, const Strength& s, auto blocks) {
    return hmis(B, s, 1, blocks);
  };
  const DenseMatrix values = test::model("laplace9", 10);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const auto real = gathered_splitting(A.comm(), aggressive(A, strength_of(A), 1, {}, split));
    const auto alone = test::serial(values);
    const auto got = aggressive(alone, strength_of(alone), 1, layout.starts(), split);
    EXPECT_EQ(std::vector<int>(got.begin(), got.end()), real);
  }
}

// In a chain one path at most leads from a point to another but its neighbours, and no path leads
// out of a pair: what one stage leaves is all there is to interpolate the fine points from, but
// for neighbours, of which CLJP leaves some.
TEST(Aggressive, PointsWithoutLongRangeDependencesStay) {
  constexpr GlobalIndex n = 12;
  DenseMatrix chain(n, n), pairs(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    chain(i, i) = pairs(i, i) = 2;
    if (i > 0) chain(i, i - 1) = chain(i - 1, i) = -1;
    if (i % 2 == 1) pairs(i, i - 1) = pairs(i - 1, i) = -1;
  }
  const std::vector<Splitter<double>> splitters = {
      [](const auto& B, const Strength& s, auto) { return pmis(B, s, 3); },
      [](const auto& B, const Strength& s, auto) { return hmis(B, s, 3); },
      [](const auto& B, const Strength& s, auto) { return cljp(B, s, 3); },
      [](const auto& B, const Strength& s, auto) { return falgout(B, s, 3); }};
  for (const auto& [values, n_paths] : {std::pair(chain, 2), std::pair(pairs, 1)}) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
      const auto A = distribute(values, layout);
      for (const Splitter<double>& split : splitters) {
        const auto once = gathered_splitting(A.comm(), split(A, strength_of(A), {}));
        EXPECT_GE(std::count(once.begin(), once.end(), coarse), n / 3);
        const auto got =
            gathered_splitting(A.comm(), aggressive(A, strength_of(A), n_paths, {}, split));
        for (std::size_t i = 0; i < once.size(); ++i) {
          const bool has_coarse_neighbour = n_paths == 2 && ((i > 0 && once[i - 1] == coarse) ||
                                                             (i + 1 < n && once[i + 1] == coarse));
          if (once[i] == coarse && has_coarse_neighbour) continue;
          EXPECT_EQ(got[i], once[i]) << "paths " << n_paths << ", point " << i;
        }
      }
    }
  }
}

// Every second of the points that are coarse already, in each direction.
TEST(Aggressive, CoarsensFurtherThanOneStage) {
  const auto A = test::serial(test::model("laplace7", 10));
  const auto count = [](const Splitting& s) { return std::count(s.begin(), s.end(), coarse); };
  const Splitter<double> split = [](const auto& B, const Strength& s, auto) {
    return hmis(B, s, 0);
  };
  const auto once = count(hmis(A, strength_of(A), 0));
  const auto one_path = count(aggressive(A, strength_of(A), 1, {}, split));
  const auto two_paths = count(aggressive(A, strength_of(A), 2, {}, split));
  EXPECT_EQ(once, 500);
  EXPECT_LT(two_paths, once / 2);
  EXPECT_LT(one_path, two_paths);
  EXPECT_GT(one_path, once / 10);
}

}  // namespace amg_aggressive_test
}  // namespace nodewise::amg::coarsen
