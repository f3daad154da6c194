// Calibrating a machine, as a function of the library.
#include "nodewise/calibrate/calibrate.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace calibrate_test
}  // namespace nodewise::calibrate
