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
