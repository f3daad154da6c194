// Tests that fail on purpose; harness_check.cmake runs them to see that the harness notices.
#include <gtest/gtest.h>

#include "support.hpp"

namespace nodewise::test {
namespace {

TEST(Probe, Passes) {
  EXPECT_GE(test_comm()->size(), 1);
}

TEST(Probe, FailsOnEveryRank) {
  FAIL() << "on purpose";
}

TEST(Probe, FailsOnTheLastRankOnly) {
  EXPECT_NE(test_comm()->rank(), test_comm()->size() - 1) << "on purpose";
}

TEST(Probe, ThrowsOnTheLastRankOnly) {
  if (test_comm()->rank() == test_comm()->size() - 1)
    throw Error(ErrorCode::internal, "on purpose");
}

// The last rank leaves, the others wait for it: the run must end with a clear message.
TEST(Probe, LeavesTheOthersWaiting) {
  ASSERT_NE(test_comm()->rank(), test_comm()->size() - 1) << "on purpose";
  mpi::sum(*test_comm(), 1);
}

}  // namespace
}  // namespace nodewise::test
