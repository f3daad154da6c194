// PMIS, HMIS and the first pass of Ruge-Stüben against plain serial forms.
#include <algorithm>

#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/splitting.hpp"

#include "amg_support.hpp"
#include "coarsen_reference.hpp"

namespace nodewise::amg::coarsen {
namespace amg_coarsen_test {

using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::gathered_splitting;
using test::layouts_of;
using test::NamedMatrix;
using test::test_comm;

using namespace test::coarsening;

template <class T>
std::vector<int> run_pmis(const matrix::DistMatrix<T>& A, int seed) {
  const auto strength = strength_of_connection(A, threshold, max_row_sum);
  return gathered_splitting(A.comm(), pmis(A, strength, seed));
}

std::vector<int> run_hmis(const matrix::DistMatrix<double>& A, int seed) {
  const auto strength = strength_of_connection(A, threshold, max_row_sum);
  return gathered_splitting(A.comm(), hmis(A, strength, seed));
}

TEST(Pmis, GivesTheSerialSplittingOnEveryLayout) {
  for (const auto& [name, values] : matrices()) {
    for (const int seed : {0, 7}) {
      const std::vector<int> alone = run_pmis(test::serial(values), seed);
      EXPECT_EQ(alone, reference_pmis(strong(values), seed, all_undecided(values))) << name;
      for (const GlobalIndex first : {GlobalIndex{0}, (GlobalIndex{1} << 40) + 5}) {
        for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), first)) {
          EXPECT_EQ(run_pmis(distribute(values, layout), seed), alone)
              << name << ", seed " << seed << ", first index " << first;
        }
      }
    }
  }
}

// Where the dependence is one-sided both points may become coarse: the one that depends on the
// other first, by its larger weight.
TEST(Pmis, IsAMaximalIndependentSet) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    const auto layout = test::random_layout(test_comm(), values.rows(), 3);
    const auto state = run_pmis(distribute(values, layout), 0);
    const auto w = weights(s, 0);
    for (GlobalIndex i = 0; i < s.rows(); ++i) {
      const auto u = static_cast<std::size_t>(i);
      EXPECT_NE(state[u], undecided) << name << ", point " << i;
      if (state[u] == fine) {
        EXPECT_TRUE(depends_on_coarse(s, state, i) || w[u] < 1 || !depends_on_any(s, i))
            << name << ", point " << i;
        continue;
      }
      for (GlobalIndex j = 0; j < s.cols(); ++j) {
        const auto v = static_cast<std::size_t>(j);
        if (s(i, j) == 0 || state[v] != coarse) continue;
        EXPECT_TRUE(s(j, i) == 0 && w[u] > w[v]) << name << ", points " << i << " and " << j;
      }
    }
  }
}

TEST(Pmis, TheSeedMatters) {
  const DenseMatrix values = test::model("laplace5", 8);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), values.rows()));
  EXPECT_NE(run_pmis(A, 0), run_pmis(A, 1));
}

TEST(Pmis, KeepsWhatIsDecided) {
  const DenseMatrix values = test::model("laplace5", 6);
  std::vector<int> start = all_undecided(values);
  start[0] = coarse;
  start[7] = fine;
  start[20] = coarse;
  start[21] = coarse;  // two coupled ones: not what PMIS would choose
  const auto expected = reference_pmis(strong(values), 3, start);
  EXPECT_EQ(expected[21], coarse);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const auto strength = strength_of_connection(A, threshold, max_row_sum);
    const auto got = pmis(A, strength, 3, test::splitting_part(layout, start));
    EXPECT_EQ(gathered_splitting(A.comm(), got), expected);
  }
}

TEST(Pmis, FloatGivesTheSame) {
  const DenseMatrix values = test::model("laplace9", 6);
  const auto layout = matrix::Layout::uniform(test_comm(), values.rows());
  EXPECT_EQ(run_pmis(distribute<float>(values, layout), 0), run_pmis(test::serial(values), 0));
}

TEST(RugeStueben, FirstPassEqualsThePlainForm) {
  for (const auto& [name, values] : matrices()) {
    const auto A = test::serial(values);
    const auto strength = strength_of_connection(A, threshold, max_row_sum);
    EXPECT_EQ(gathered_splitting(A.comm(), ruge_stueben_first_pass(A, strength)),
              reference_first_pass(strong(values)))
        << name;
  }
}

TEST(RugeStueben, FirstPassIsOfEachRanksOwnBlock) {
  const DenseMatrix values = test::model("rotated_fe", 7);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const auto strength = strength_of_connection(A, threshold, max_row_sum);
    const auto s = strong(values);
    Dense<int> block(A.n_local(), A.n_local());
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      for (LocalIndex j = 0; j < A.n_local(); ++j) {
        block(i, j) = s(layout.to_global(i), layout.to_global(j));
      }
    }
    const auto got = ruge_stueben_first_pass(A, strength);
    EXPECT_EQ(std::vector<int>(got.begin(), got.end()), reference_first_pass(block));
  }
}

// The textbook example: red and black points of the five-point star.
TEST(RugeStueben, FivePointStarIsColouredLikeAChessboard) {
  constexpr int n = 9;
  const auto A = test::serial(test::model("laplace5", n));
  const auto strength = strength_of_connection(A, threshold, max_row_sum);
  const Splitting got = ruge_stueben_first_pass(A, strength);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j + 1 < n; ++j) {
      const auto p = static_cast<std::size_t>(i * n + j);
      EXPECT_EQ(got[p], -got[p + 1]) << i << " " << j;
      if (i > 0) {
        EXPECT_EQ(got[p], -got[p - n]) << i << " " << j;
      }
    }
  }
}

TEST(Hmis, OnOneRankIsTheFirstPassCompleted) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    const auto first_pass = reference_first_pass(s, without_independent(s, all_undecided(values)));
    const auto got = run_hmis(test::serial(values), 0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NE(got[i], undecided) << name << ", point " << i;
      if (first_pass[i] != undecided) {
        EXPECT_EQ(got[i], first_pass[i]) << name << ", point " << i;
      }
    }
  }
}

TEST(Hmis, IsPmisFromTheInteriorCoarsePointsOfTheFirstPass) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto A = distribute(values, layout);
      const auto strength = strength_of_connection(A, threshold, max_row_sum);
      const auto mine = block_start(s, layout);
      auto start = gathered_splitting(
          A.comm(), ruge_stueben_first_pass(A, strength, {mine.begin(), mine.end()}));
      for (GlobalIndex i = 0; i < s.rows(); ++i) {
        auto& state = start[static_cast<std::size_t>(i)];
        if (state != coarse) state = undecided;
        for (GlobalIndex j = 0; j < s.cols(); ++j) {
          if (s(i, j) == 1 && layout.owner(i) != layout.owner(j)) state = undecided;
        }
      }
      EXPECT_EQ(run_hmis(A, 5), reference_pmis(s, 5, start)) << name;
    }
  }
}

TEST(Hmis, AllPointsAreDecidedAndServed) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    const auto w = weights(s, 0);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto state = run_hmis(distribute(values, layout), 0);
      for (GlobalIndex i = 0; i < s.rows(); ++i) {
        const auto u = static_cast<std::size_t>(i);
        EXPECT_NE(state[u], undecided) << name << ", point " << i;
        EXPECT_TRUE(state[u] == coarse || depends_on_coarse(s, state, i) || w[u] < 1 ||
                    !depends_on_any(s, i))
            << name << ", point " << i;
      }
    }
  }
}

}  // namespace amg_coarsen_test
}  // namespace nodewise::amg::coarsen
