// Measuring the kernels of a hierarchy, as a function of the library.
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/roofline/bench.hpp"

#include "support.hpp"

namespace nodewise::roofline {
namespace roofline_test {

using test::test_comm;

TEST(Roofline, EveryKernelOfEveryLevelIsMeasuredWithItsTraffic) {
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), {.problem = "laplace5", .n = 12}));
  const amg::Options options;
  const amg::Hierarchy<double> hierarchy(A, options);
  BenchOptions bench;
  bench.seconds = 0.01;
  std::size_t runs = 0;
  Progress progress;
  progress.kernel = [&](double, std::size_t, std::size_t, std::size_t) { ++runs; };
  const Subject subject = {A, &hierarchy, options, true};
  const run::Environment environment = run::describe_environment(*test_comm());
  EXPECT_GT(memory_need(subject, environment, bench), 0);
  const Record record = measure_kernels(subject, environment, bench, progress);
  EXPECT_EQ(record.levels.size(), hierarchy.levels().size());
  EXPECT_GE(runs, record.kernels.size());
  EXPECT_GT(record.bandwidth().triad_bytes_per_s, 0);
  std::set<std::string> of_finest;
  for (const KernelRecord& kernel : record.kernels) {
    EXPECT_FALSE(kernel.times.empty()) << kernel.name;
    if (kernel.level == 0) of_finest.insert(kernel.name);
    if (kernel.name == "product" && kernel.vectors == 1 && !kernel.single_precision) {
      const auto& level = record.levels[static_cast<std::size_t>(kernel.level)];
      EXPECT_EQ(kernel.nonzeros, static_cast<double>(level.nonzeros));
      EXPECT_EQ(kernel.traffic.flops, 2 * kernel.nonzeros);
    }
  }
  for (const char* name : {"product", "residual", "first_sweep", "sweep"}) {
    EXPECT_EQ(of_finest.count(name), 1U) << name;
  }
}

}  // namespace roofline_test
}  // namespace nodewise::roofline
