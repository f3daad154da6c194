// What overlapping saves by the model, worked out by hand.
#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/hybrid_cost.hpp"

#include "model_support.hpp"

namespace nodewise::model {
namespace model_hybrid_test {

using comm::Overlap;

TEST(HybridCost, IsTheSumOrTheLongerOfBoth) {
  HybridParts parts = {
      .exchange_s = 4, .own_s = 6, .rest_s = 1, .beside = 1.5, .hidden_part = 0.25};
  EXPECT_EQ(hybrid_s(parts, Overlap::none), 11);
  EXPECT_EQ(hybrid_s(parts, Overlap::naive), 10);  // a quarter of the exchange is hidden
  EXPECT_EQ(hybrid_s(parts, Overlap::task), 10);   // nine beside the exchange, and one
  parts.exchange_s = 20;
  EXPECT_EQ(hybrid_s(parts, Overlap::naive), 25.5);  // a quarter of the work
  EXPECT_EQ(hybrid_s(parts, Overlap::task), 21);
  EXPECT_THROW(hybrid_s(parts, Overlap::automatic), Error);
}

TEST(HybridCost, TakesProgressAsItWasMeasuredWithMessagesThatAreNotLonger) {
  Machine machine = test::round_machine();
  EXPECT_EQ(hidden_by_mpi(machine, 1e6), 0);
  machine.progress = {{1024, 0.75, 1.0}, {65536, 0.5, 0.25}, {1e7, std::nullopt, 0.125}};
  EXPECT_EQ(hidden_by_mpi(machine, 8), 0.75);
  EXPECT_EQ(hidden_by_mpi(machine, 65535), 0.75);
  EXPECT_EQ(hidden_by_mpi(machine, 65536), 0.25);
  EXPECT_EQ(hidden_by_mpi(machine, 1e9), 0.125);
}

TEST(HybridCost, LosesAThreadOrOnlyItsShareOfTheBandwidth) {
  Machine machine = test::round_machine();
  EXPECT_EQ(slowdown_beside(machine, 0, 100, 4), 1);  // no times of arithmetic
  machine.s_per_flop_by_level = {1};
  EXPECT_EQ(slowdown_beside(machine, 0, 100, 1), 1);
  EXPECT_EQ(slowdown_beside(machine, 0, 100, 2), 2);
  EXPECT_DOUBLE_EQ(slowdown_beside(machine, 0, 100, 4), 4.0 / 3);
  // Two threads saturate the memory, and each of three has two thirds of what each of two has.
  machine.thread_bandwidth = {{1, 10}, {2, 10}, {3, 20.0 / 3}};
  EXPECT_DOUBLE_EQ(slowdown_beside(machine, 0, 100, 3), 1);
}

}  // namespace model_hybrid_test
}  // namespace nodewise::model
