// Copies and messages of cards, measured in the memory of the host: what is recorded, and the
// machine that is made of it. No times are tested.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/calibrate/calibrate.hpp"
#include "nodewise/calibrate/cards.hpp"
#include "nodewise/calibrate/measure.hpp"
#include "nodewise/device/space.hpp"
#include "nodewise/io/machine_file.hpp"

#include "support.hpp"

namespace nodewise::calibrate {
namespace calibrate_cards_test {

using test::test_comm;

constexpr double largest = 4096;
constexpr std::size_t n_sizes = 10;  // 8, 16, ..., 4096

Record measured(const std::shared_ptr<const mpi::Comm>& comm, const Cards& cards) {
  Record record;
  Stopwatch stopwatch(comm, 0.01, MeasureWeights::copies + MeasureWeights::card_messages);
  measure_cards_in<device::Host>(stopwatch, cards, largest, record);
  return record;
}

void expect_times(const std::vector<SizeTimes>& sizes) {
  ASSERT_EQ(sizes.size(), n_sizes);
  for (std::size_t k = 0; k < n_sizes; ++k) {
    EXPECT_EQ(sizes[k].bytes, 8.0 * static_cast<double>(1 << k));
    EXPECT_FALSE(sizes[k].times.empty());
    for (const double t : sizes[k].times.seconds) EXPECT_GT(t, 0);
  }
}

TEST(CalibrateCards, CopiesAreMeasuredByOneRankAndBySeveralAtOnce) {
  for (const test::NodeMap& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Record record = measured(comm, {"host", 2, "", "not asked"});
    const std::size_t on_first = comm->topology().ranks_on(0).size();
    std::size_t expected = 0;
    for (std::size_t n = 1; n <= on_first; n *= 2) expected += 2;
    ASSERT_EQ(record.copies.size(), expected);
    for (const CopyTimes& copy : record.copies) expect_times(copy.sizes);
    EXPECT_EQ(record.copies[0].direction, "to_host");
    EXPECT_EQ(record.copies[1].direction, "to_device");
    EXPECT_EQ(record.copies.back().processes, 1 << (expected / 2 - 1));
    EXPECT_TRUE(record.card_paths.empty());
    ASSERT_EQ(record.not_measured.size(), 1U);
    EXPECT_EQ(record.not_measured[0].what, "messages between cards");
    EXPECT_EQ(record.not_measured[0].why, "not asked");
  }
}

TEST(CalibrateCards, MessagesAreMeasuredByLocality) {
  for (const test::NodeMap& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Record record = measured(comm, {"host", 2, "", ""});
    const mpi::Topology& topology = comm->topology();
    const bool has_near = topology.n_ranks() > topology.n_nodes();
    const bool has_far = topology.n_nodes() > 1;
    ASSERT_EQ(record.card_paths.size(), (has_near ? 1U : 0U) + (has_far ? 1U : 0U));
    for (const PathTimes& path : record.card_paths) expect_times(path.sizes);
    if (has_far) {
      EXPECT_EQ(record.card_paths.back().locality, "other_node");
    }
    const Fits fits = fit_measurements(record, nullptr);
    EXPECT_EQ(fits.copies.size(), record.copies.size());
    EXPECT_EQ(fits.card_paths.size(), record.card_paths.size());
  }
}

Repeats all_the_same(double seconds) {
  return {{seconds, seconds, seconds}};
}

std::vector<SizeTimes> line(double latency_s, double s_per_byte, double switch_bytes = 1e9,
                            double more_s = 0) {
  std::vector<SizeTimes> sizes;
  for (double bytes = 8; bytes <= 1 << 20; bytes *= 2) {
    const double extra = bytes > switch_bytes ? more_s : 0;
    sizes.push_back({bytes, all_the_same(latency_s + extra + s_per_byte * bytes)});
  }
  return sizes;
}

// Times of known parameters give the machine these, and what can be priced by it.
TEST(CalibrateCards, MakeTheCardsOfAMachine) {
  Record record;
  record.card = "card";
  record.cards_of_a_node = 4;
  record.environment.ranks_per_node = {2, 2};
  record.copies = {{"to_host", 1, line(1e-5, 2e-11)},
                   {"to_device", 1, line(1.5e-5, 4e-11)},
                   {"to_host", 2, line(2e-5, 1e-10)},
                   {"to_device", 2, line(2.5e-5, 1e-10)}};
  record.card_paths = {{"same_node", {{0, 1}}, line(1e-6, 1e-11), {}},
                       {"other_node", {{0, 2}}, line(2e-6, 1e-10, 2048, 5e-6), {}}};
  const model::Machine base = io::shipped_machine("generic-cluster");
  const Fits fits = fit_measurements(record, &base);
  const model::Machine machine = make_machine(record, fits, &base, "fitted");
  ASSERT_TRUE(machine.gpu);
  const model::GpuPaths& gpu = *machine.gpu;
  EXPECT_EQ(gpu.gpus_per_node, 4);
  EXPECT_NEAR(gpu.to_host.latency_s, 1e-5, 1e-9);
  EXPECT_NEAR(1 / gpu.to_host.rate_bytes_per_s, 2e-11, 1e-14);
  EXPECT_NEAR(gpu.to_device.latency_s, 1.5e-5, 1e-9);
  ASSERT_EQ(gpu.shared_copies.size(), 1U);
  EXPECT_EQ(gpu.shared_copies[0].processes, 2);
  EXPECT_NEAR(gpu.shared_copies[0].path.latency_s, 2e-5, 1e-9);
  EXPECT_EQ(gpu.switch_bytes, 2048);
  EXPECT_FALSE(gpu.direct[0]);
  ASSERT_TRUE(gpu.direct[1] && gpu.direct[2]);
  EXPECT_NEAR(gpu.direct[2]->to_switch.latency_s, 2e-6, 1e-9);
  EXPECT_NEAR(gpu.direct[2]->beyond.latency_s, 7e-6, 1e-8);
  EXPECT_EQ(gpu.injection_bytes_per_s, model::unlimited);
  model::check(machine);
  EXPECT_EQ(io::parse_machine(io::print_machine(machine), "text").gpu->gpus_per_node, 4);
}

TEST(CalibrateCards, WhereThereAreNoneTheRecordSaysWhy) {
  CalibrateOptions options;
  options.seconds = 0.01;
  options.largest_message = 4096;
  const Cards cards = find_cards(*test_comm());
  if (cards.why_none.empty()) GTEST_SKIP() << "there are cards here";
  const Calibration found =
      calibrate(test_comm(), run::describe_environment(*test_comm()), options);
  EXPECT_TRUE(found.record.copies.empty());
  const auto& missing = found.record.not_measured;
  ASSERT_FALSE(missing.empty());
  EXPECT_EQ(missing.back().what, "cards");
  EXPECT_EQ(missing.back().why, cards.why_none);
}

}  // namespace calibrate_cards_test
}  // namespace nodewise::calibrate
