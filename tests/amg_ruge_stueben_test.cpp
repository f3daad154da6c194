// Both passes of Ruge-Stüben, CLJP and Falgout against plain forms, on all layouts.
#include <algorithm>

#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/splitting.hpp"

#include "amg_support.hpp"
#include "coarsen_reference.hpp"

namespace nodewise::amg::coarsen {
namespace amg_ruge_stueben_test {

using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::gathered_splitting;
using test::layouts_of;
using test::test_comm;
using namespace test::coarsening;

Strength strength_of(const matrix::DistMatrix<double>& A) {
  return strength_of_connection(A, threshold, max_row_sum);
}

std::vector<int> whole(const Splitting& splitting) {
  return {splitting.begin(), splitting.end()};
}

TEST(RugeStuebenPasses, EqualThePlainFormOnEachRanksBlock) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    for (const GlobalIndex first : {GlobalIndex{0}, (GlobalIndex{1} << 40) + 5}) {
      for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), first)) {
        const auto A = distribute(values, layout);
        EXPECT_EQ(whole(ruge_stueben(A, strength_of(A))),
                  reference_ruge_stueben(own_block(s, layout)))
            << name;
      }
    }
  }
}

TEST(RugeStuebenPasses, TheSecondGivesNeighboursACoarsePointInCommon) {
  std::int64_t added = 0;
  for (const auto& [name, values] : matrices()) {
    const auto A = test::serial(values);
    const auto both = whole(ruge_stueben(A, strength_of(A), 2));
    expect_common_coarse_points(strong(values), both, name);
    const auto one = whole(ruge_stueben(A, strength_of(A), 1));
    added +=
        std::count(both.begin(), both.end(), coarse) - std::count(one.begin(), one.end(), coarse);
  }
  EXPECT_GT(added, 0);
}

TEST(RugeStuebenPasses, TheFirstAloneEqualsThePlainForm) {
  for (const auto& [name, values] : matrices()) {
    const auto A = test::serial(values);
    EXPECT_EQ(whole(ruge_stueben(A, strength_of(A), 1)), reference_pass_in_line(strong(values)))
        << name;
  }
}

TEST(RugeStuebenPasses, InfluenceComesOnTopOfTheMeasure) {
  for (const auto& [name, values] : matrices()) {
    const auto A = test::serial(values);
    std::vector<LocalIndex> influence;
    for (GlobalIndex i = 0; i < values.rows(); ++i) {
      influence.push_back(static_cast<LocalIndex>(hash64(static_cast<std::uint64_t>(i)) % 5));
    }
    EXPECT_EQ(whole(ruge_stueben(A, strength_of(A), 1, {}, influence)),
              reference_pass_in_line(strong(values), {influence.begin(), influence.end()}))
        << name;
  }
}

/// CLJP by its definition: an edge i -> j counts for j's weight until i is coarse, j is, or both
/// depend on a coarse point.
std::vector<int> reference_cljp(const Dense<int>& s, int seed, std::vector<int> state) {
  state = without_independent(s, std::move(state));
  const GlobalIndex n = s.rows();
  const std::vector<double> w = weights(s, seed);
  const auto at = [](GlobalIndex i) { return static_cast<std::size_t>(i); };
  const auto is_coarse = [&](GlobalIndex i) { return state[at(i)] == coarse; };
  const auto is_alive = [&](GlobalIndex i, GlobalIndex j) {
    if (s(i, j) == 0 || is_coarse(i) || is_coarse(j)) return false;
    for (GlobalIndex c = 0; c < n; ++c) {
      if (is_coarse(c) && s(i, c) == 1 && s(j, c) == 1) return false;
    }
    return true;
  };
  while (true) {
    std::vector<double> weight = w;
    for (GlobalIndex i = 0; i < n; ++i) {
      for (GlobalIndex j = 0; j < n; ++j) weight[at(j)] -= s(i, j) == 1 && !is_alive(i, j) ? 1 : 0;
    }
    for (GlobalIndex i = 0; i < n; ++i) {
      if (state[at(i)] == undecided && weight[at(i)] < 1) state[at(i)] = fine;
    }
    std::vector<GlobalIndex> heaviest;
    for (GlobalIndex i = 0; i < n; ++i) {
      bool beaten = state[at(i)] != undecided;
      for (GlobalIndex j = 0; j < n && !beaten; ++j) {
        beaten = j != i && s(i, j) + s(j, i) > 0 && state[at(j)] == undecided &&
                 weight[at(j)] > weight[at(i)];
      }
      if (!beaten) heaviest.push_back(i);
    }
    if (heaviest.empty()) return state;
    for (const GlobalIndex i : heaviest) state[at(i)] = coarse;
  }
}

TEST(Cljp, GivesTheSerialSplittingOnEveryLayout) {
  for (const auto& [name, values] : matrices()) {
    for (const int seed : {0, 7}) {
      const auto expected = reference_cljp(strong(values), seed, all_undecided(values));
      for (const GlobalIndex first : {GlobalIndex{0}, (GlobalIndex{1} << 40) + 5}) {
        for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), first)) {
          const auto A = distribute(values, layout);
          EXPECT_EQ(gathered_splitting(A.comm(), cljp(A, strength_of(A), seed)), expected)
              << name << ", seed " << seed << ", first index " << first;
        }
      }
    }
  }
}

TEST(Cljp, GivesNeighboursACoarsePointInCommon) {
  for (const auto& [name, values] : matrices()) {
    const auto layout = test::random_layout(test_comm(), values.rows(), 3);
    const auto A = distribute(values, layout);
    const auto state = gathered_splitting(A.comm(), cljp(A, strength_of(A), 0));
    EXPECT_EQ(std::count(state.begin(), state.end(), int{undecided}), 0) << name;
    expect_common_coarse_points(strong(values), state, name);
  }
}

TEST(Cljp, KeepsWhatIsDecided) {
  const DenseMatrix values = test::model("laplace9", 6);
  std::vector<int> start = all_undecided(values);
  start[0] = coarse;
  start[7] = fine;
  start[20] = coarse;
  start[21] = coarse;
  const auto expected = reference_cljp(strong(values), 3, start);
  EXPECT_EQ(expected[21], coarse);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const auto got = cljp(A, strength_of(A), 3, test::splitting_part(layout, start));
    EXPECT_EQ(gathered_splitting(A.comm(), got), expected);
  }
}

TEST(Cljp, FloatGivesTheSame) {
  const DenseMatrix values = test::model("laplace9", 6);
  const auto A = distribute<float>(values, matrix::Layout::uniform(test_comm(), values.rows()));
  const auto strength = strength_of_connection(A, threshold, max_row_sum);
  EXPECT_EQ(gathered_splitting(A.comm(), cljp(A, strength, 0)),
            reference_cljp(strong(values), 0, all_undecided(values)));
}

/// Both passes as Falgout begins with them: on each rank's block, ties as in the queues of HMIS.
/// The second one passes over the points that are fine in `start`.
std::vector<int> reference_blocks(const Dense<int>& s, const std::vector<int>& start) {
  auto state = reference_first_pass(s, start);
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (state[i] != coarse) state[i] = start[i] == fine ? undecided : fine;
  }
  state = reference_second_pass(s, std::move(state));
  std::replace(state.begin(), state.end(), int{undecided}, int{fine});
  return state;
}

/// The splitting of Falgout where `blocks` is that of each rank's rows by themselves.
std::vector<int> reference_falgout(const Dense<int>& s, const matrix::Layout& layout,
                                   std::span<const int> blocks, int seed) {
  std::vector<int> start(static_cast<std::size_t>(s.rows()), undecided);
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (blocks[i] != coarse) continue;
    bool interior = true;
    for (GlobalIndex j = 0; j < s.cols(); ++j) {
      const auto row = static_cast<GlobalIndex>(i) + layout.first();
      interior = interior && (s(static_cast<GlobalIndex>(i), j) == 0 ||
                              layout.owner(row) == layout.owner(j + layout.first()));
    }
    if (interior) start[i] = coarse;
  }
  return reference_cljp(s, seed, start);
}

TEST(Falgout, IsCljpFromTheInteriorCoarsePointsOfRugeStueben) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto A = distribute(values, layout);
      const auto mine = reference_blocks(own_block(s, layout), block_start(s, layout));
      const auto blocks = gathered_splitting(A.comm(), {mine.begin(), mine.end()});
      const auto state = gathered_splitting(A.comm(), falgout(A, strength_of(A), 5));
      EXPECT_EQ(state, reference_falgout(s, layout, blocks, 5)) << name;
      expect_common_coarse_points(s, state, name);
    }
  }
}

TEST(Falgout, OnOneRankIsBothPassesOfRugeStueben) {
  for (const auto& [name, values] : matrices()) {
    const auto A = test::serial(values);
    const auto start = without_independent(strong(values), all_undecided(values));
    EXPECT_EQ(whole(falgout(A, strength_of(A), 0)), reference_blocks(strong(values), start))
        << name;
  }
}

TEST(Falgout, OfVirtualRanksIsThatOfRealOnes) {
  const DenseMatrix values = test::model("laplace9", 8);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const auto real = gathered_splitting(A.comm(), falgout(A, strength_of(A), 2));
    const auto alone = test::serial(values);
    EXPECT_EQ(whole(falgout(alone, strength_of(alone), 2, layout.starts())), real);
  }
}

}  // namespace amg_ruge_stueben_test
}  // namespace nodewise::amg::coarsen
