// Calibrating a machine, as a function of the library.
#include "nodewise/calibrate/calibrate.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/calibrate/fit.hpp"
#include "nodewise/io/machine_file.hpp"

#include "support.hpp"

namespace nodewise::calibrate {
namespace calibrate_test {

using test::test_comm;

TEST(Calibrate, WhatWasNotMeasuredIsThatOfTheBase) {
  CalibrateOptions options;
  options.seconds = 0.01;
  options.largest_message = 4096;
  options.name = "here";
  const model::Machine base = io::find_machine("generic-cluster");
  std::vector<std::string> parts;
  const Calibration found =
      calibrate(test_comm(), run::describe_environment(*test_comm()), options, &base,
                [&](double, const std::string& part) { parts.push_back(part); });
  EXPECT_FALSE(parts.empty());
  EXPECT_FALSE(found.record.spmv.empty());
  EXPECT_EQ(found.record.paths.empty(), test_comm()->size() == 1);
  if (!test_comm()->is_root()) return;
  ASSERT_TRUE(found.machine);
  EXPECT_EQ(found.machine->name, "here");
  EXPECT_TRUE(found.machine->measured);
  EXPECT_FALSE(found.machine->s_per_flop_by_size.empty());
}

Repeats all_the_same(double seconds) {
  return {{seconds, seconds, seconds}};
}

/// Times of 1, 2, 4 ... messages of the same bytes in all: long ones, of fewer than 64, take longer
/// than a + b n + gamma n^2 says of short ones.
std::vector<VolumeTimes> volumes(int most, double gamma) {
  std::vector<VolumeTimes> all;
  for (int n = 1; n <= most; n *= 2) {
    const double short_ones = 2e-5 + 1e-6 * n + gamma * n * n;
    all.push_back({n, 80000.0 / n, all_the_same(short_ones + (n < 64 ? 3e-4 / n : 0)),
                   all_the_same(short_ones)});
  }
  return all;
}

TEST(Calibrate, FindsTheSearchOfQueuesInManyShortMessages) {
  for (const double gamma : {0.0, 8.4e-9}) {
    const auto fit = fit_volume(volumes(8192, gamma), false);
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->queue_search_s.value, gamma, 1e-13);
    EXPECT_NEAR(fit->per_message_s.value, 1e-6, 1e-10);
    EXPECT_NEAR(fit->base_s.value, 2e-5, 1e-8);
  }
}

TEST(Calibrate, TakesTheLargestNumbersWhereFewMessagesWereMeasured) {
  const auto fit = fit_volume(volumes(64, 8.4e-9), true);  // 8, 16, 32, 64
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->queue_search_s.value, 8.4e-9, 1e-12);
  EXPECT_FALSE(fit_volume(volumes(4, 8.4e-9), true));
}

TEST(Calibrate, LooksWhereMessagesStandInTheQueue) {
  CalibrateOptions options;
  options.seconds = 0.01;
  const model::Machine base = io::find_machine("generic-cluster");
  const Calibration found = calibrate(test_comm(), run::describe_environment(*test_comm()), options,
                                      &base, [](double, const std::string&) {});
  const QueuePositions& positions = found.record.positions;
  const int n = test_comm()->size() - 1;
  EXPECT_EQ(positions.messages, n < 2 ? 0 : n);
  EXPECT_EQ(positions.in_order.size(), positions.reversed.size());
  for (std::size_t k = 0; k < positions.in_order.size(); ++k) {
    // A step for each message at least, and no more than all that are still open.
    EXPECT_GE(positions.in_order[k], 0.999 / n);
    EXPECT_GE(positions.reversed[k], 0.999 / n);
    EXPECT_LE(positions.in_order[k], 0.5 * (n + 1) / n + 1e-9);
    EXPECT_LE(positions.reversed[k], 0.5 * (n + 1) / n + 1e-9);
    // Of the same rank both together are n + 1 for each message that finds n open.
    EXPECT_GE(positions.in_order[k] + positions.reversed[k], 0.5 * (n + 3) / n - 1e-9);
  }
  for (std::size_t k = 1; k < found.record.queue.size(); ++k) {
    EXPECT_LE(found.record.queue[k].messages * found.record.queue[k].bytes, 80000);
    EXPECT_GE(found.record.queue[k].bytes, 8);
  }
}

TEST(Calibrate, FitsAHopToTheLargestLatencyAndArithmeticToEachLevel) {
  const model::Machine base = io::find_machine("eos");
  Record record;
  record.environment.ranks_per_node = {1, 1, 1};
  record.paths = {{"other_node",
                   {{0, 1}, {0, 2}},
                   {},
                   {all_the_same(0.3e-6), all_the_same(0.238e-6 + 5 * 0.2e-6)}}};
  for (const double s_per_flop : {4e-9, 2e-9, 1e-9, 3e-9, 1e-9}) {
    record.level_products.push_back({10, 50, all_the_same(100 * s_per_flop)});
  }
  const model::Machine machine = make_machine(record, {}, &base, "fitted");
  EXPECT_NEAR(machine.hop_latency_s, 0.2e-6, 1e-15);
  EXPECT_EQ(machine.scenario, "distance") << "that of the base";
  const std::vector<double> expected = {4e-9, 2e-9, 1e-9};  // the last for all coarser levels
  ASSERT_EQ(machine.s_per_flop_by_level.size(), expected.size());
  for (std::size_t l = 0; l < expected.size(); ++l) {
    EXPECT_DOUBLE_EQ(machine.s_per_flop_by_level[l], expected[l]) << l;
  }
  record.paths.front().pairs.pop_back();
  EXPECT_EQ(make_machine(record, {}, &base, "one pair").hop_latency_s, base.hop_latency_s);
}

}  // namespace calibrate_test
}  // namespace nodewise::calibrate
