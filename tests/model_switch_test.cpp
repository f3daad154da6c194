// Redistribution by the model of 2014: its formulas by hand, with the parameters of Eos.
#include <cmath>

#include <gtest/gtest.h>

#include "nodewise/model/switch_cost.hpp"

namespace nodewise::model {
namespace model_switch_test {

// alpha with the distance term, 0.238 us + 5 times 0.416 us, and beta of a double.
constexpr NetworkParameters eos = {2.318e-6, 0.858e-9};
constexpr double s_per_flop = 0.545e-9;
constexpr double us = 1e-6;

const LevelOnProcesses first = {.unknowns = 10'000,
                                .nonzeros_per_row = 60,
                                .sends = 200,
                                .elements = 2'000,
                                .active_processes = 1'024};
const LevelOnProcesses second = {.unknowns = 1'000,
                                 .nonzeros_per_row = 80,
                                 .sends = 150,
                                 .elements = 600,
                                 .active_processes = 512};

TEST(SwitchCost, StayingByHand) {
  EXPECT_NEAR(stay_s(first, 1024, s_per_flop, eos), 2329.77 * us, 0.01 * us);
  EXPECT_NEAR(stay_s(second, 1024, s_per_flop, eos), 1741.50 * us, 0.01 * us);
}

TEST(SwitchCost, OfEveryNumberOfGroupsByHand) {
  const double of_first[] = {3442.50, 1756.41, 929.48, 548.51, 424.88, 499.45, 812.59, 1524.12};
  const double of_second[] = {508.02, 289.53, 194.43, 178.33, 236.50, 401.42, 758.99, 1491.45};
  const auto a = switch_candidates(first, s_per_flop, eos, {});
  const auto b = switch_candidates(second, s_per_flop, eos, {});
  ASSERT_EQ(a.size(), 8U);  // 1 to 128, the powers of two below p_i
  ASSERT_EQ(b.size(), 8U);
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_EQ(a[k].groups, 1 << k);
    EXPECT_NEAR(a[k].seconds, of_first[k] * us, 0.01 * us);
    EXPECT_NEAR(b[k].seconds, of_second[k] * us, 0.01 * us);
  }
}

TEST(SwitchCost, TheLowestIsTaken) {
  const SwitchDecision a = decide_switch(first, 1024, s_per_flop, eos, {}, 0);
  ASSERT_TRUE(a.best.has_value());
  EXPECT_EQ(a.best->groups, 16);
  EXPECT_TRUE(a.pays);
  const SwitchDecision b = decide_switch(second, 1024, s_per_flop, eos, {}, 0);
  ASSERT_TRUE(b.best.has_value());
  EXPECT_EQ(b.best->groups, 8);
}

// The gain of the first is 1904.9 us, 5 % of 38,098 us.
TEST(SwitchCost, ASmallPartOfTheCycleIsNotWorthIt) {
  const double gain = stay_s(first, 1024, s_per_flop, eos) - 424.88 * us;
  const double limit = gain / 0.05 - stay_s(first, 1024, s_per_flop, eos);
  EXPECT_TRUE(decide_switch(first, 1024, s_per_flop, eos, {}, limit - 1 * us).pays);
  EXPECT_FALSE(decide_switch(first, 1024, s_per_flop, eos, {}, limit + 1 * us).pays);
}

TEST(SwitchCost, NothingToChooseFrom) {
  LevelOnProcesses quiet = first;
  quiet.sends = 1;
  quiet.elements = 10;
  const SwitchDecision decision = decide_switch(quiet, 1024, s_per_flop, eos, {}, 0);
  EXPECT_FALSE(decision.best.has_value());
  EXPECT_FALSE(decision.pays);
  LevelOnProcesses alone = first;
  alone.active_processes = 1;
  EXPECT_TRUE(switch_candidates(alone, s_per_flop, eos, {}).empty());
}

// A row of 60 nonzeros takes 736 bytes with its entry of the vector, 8 of them for that entry.
TEST(SwitchCost, TheCacheKeepsPartsSmall) {
  const CacheRule cache = {736'000};
  EXPECT_DOUBLE_EQ(cache.size_of(500, 60), 0.5);
  EXPECT_DOUBLE_EQ(cache.size_of(1000, 60), 1);
  EXPECT_DOUBLE_EQ(cache.size_of((1000 + 92'000) / 2.0, 60), 1.5);
  EXPECT_DOUBLE_EQ(cache.size_of(92'001, 60), 2);
  EXPECT_FALSE(cache.forbids(10, 499, 60));
  EXPECT_TRUE(cache.forbids(10, 500, 60));
  EXPECT_FALSE(cache.forbids(2000, 46'000, 60));
  EXPECT_TRUE(cache.forbids(2000, 46'500, 60));
  EXPECT_FALSE(cache.forbids(100'000, 1e9, 60));  // as large as can be already
  EXPECT_FALSE(CacheRule{}.forbids(1, 1e9, 60));
  // 10,000 rows on 32 processes are 313 each, on 16 they are 625.
  const auto allowed = switch_candidates(first, s_per_flop, eos, cache);
  ASSERT_FALSE(allowed.empty());
  EXPECT_EQ(allowed.front().groups, 32);
}

TEST(SwitchCost, FlopTimesFreezeWhereTheyRise) {
  EXPECT_EQ(frozen_flop_times({5, 4, 4, 6, 2}), (std::vector<double>{5, 4, 4, 4, 4}));
  EXPECT_EQ(frozen_flop_times({3, 2, 1}), (std::vector<double>{3, 2, 1}));
  EXPECT_TRUE(frozen_flop_times({}).empty());
}

}  // namespace model_switch_test
}  // namespace nodewise::model
