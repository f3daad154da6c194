// Ways of data between GPUs: formulas by hand, and what was measured on Summit and Lassen.
#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/gpu_transport.hpp"

namespace nodewise::model {
namespace model_gpu_test {

double seconds(const Machine& machine, const char* way, const GpuTraffic& traffic) {
  return require(model::seconds(GpuTransport::family().find(way), machine, traffic), way);
}

/// Numbers that are easy to add up.
Machine round_machine() {
  Machine m;
  m.cores_per_node = 8;
  m.switch_sizes = {10, 20};
  m.path(Locality::other_node) = {MessageParameters{1, 2, 4}, MessageParameters{3, 4, 8},
                                  MessageParameters{5, 8, 16}};
  m.path(Locality::same_socket) = {MessageParameters{0.5, 4}, MessageParameters{0.25, 8},
                                   MessageParameters{0.125, 16}};
  m.gpu.emplace();
  m.gpu->gpus_per_node = 2;
  m.gpu->to_host = {10, 2};
  m.gpu->to_device = {20, 4};
  m.gpu->shared_copies = {{2, {7, 8}}};
  m.gpu->switch_bytes = 16;
  m.gpu->direct.back() = GpuMessages{{2, unlimited}, {4, 2}};
  m.gpu->injection_bytes_per_s = 8;
  return m;
}

TEST(GpuTransport, IsWhatTheFormulasSay) {
  const Machine m = round_machine();
  // 6 messages of 8 bytes from each of 2 GPUs: 48 bytes a GPU, 96 a node.
  const GpuTraffic few = {6, 8, 2};
  EXPECT_EQ(seconds(m, "direct", few), 6 * 2 + 96 / 8.0);
  EXPECT_EQ(seconds(m, "one_core", few), (10 + 24) + (20 + 12) + 6 * 1 + 24);
  // 4 cores a GPU: parts of 12 bytes go by the protocol of these.
  EXPECT_EQ(seconds(m, "many_cores", few),
            (10 + 24) + (20 + 12) + 2 * 3 * (0.25 + 12 / 8.0) + 1.5 * 1 + 96 / 4.0);
  EXPECT_EQ(seconds(m, "shared_memory", few), 2 * (7 + 24 / 8.0) + 3 * 1 + 96 / 4.0);
  // There is no part of a message: three of them occupy three of four cores.
  EXPECT_EQ(seconds(m, "many_cores", {3, 8, 1}),
            (10 + 12) + (20 + 6) + 2 * 3 * (0.5 + 6 / 4.0) + 1 + 24 / 4.0);
  // Beyond the switch: one message of 32 bytes from one GPU.
  EXPECT_EQ(seconds(m, "direct", {1, 32, 1}), 4 + 32 / 2.0);
}

TEST(GpuTransport, SaysWhatTheMachineFileLacks) {
  Machine m = round_machine();
  m.gpu->shared_copies.clear();
  m.gpu->direct.back().reset();
  for (const char* way : {"direct", "shared_memory"}) {
    EXPECT_THROW((void)seconds(m, way, {}), Error) << way;
  }
  EXPECT_GT(seconds(m, "one_core", {}), 0);
  EXPECT_TRUE(std::holds_alternative<Unanswered>(
      copies_win_from(m, GpuTransport::family().find("one_core"), 8, 10)));
  m.gpu.reset();
  for (const GpuTransport& way : GpuTransport::family()) {
    const auto answer = model::seconds(way, m, {});
    ASSERT_TRUE(std::holds_alternative<Unanswered>(answer)) << *way.name;
    EXPECT_NE(std::get<Unanswered>(answer).reason.find("gpu"), std::string::npos);
  }
}

// From how many messages on one core that copies is faster than messages straight from GPU to GPU.
TEST(GpuTransport, CopiesWinFromAFewMessagesOn) {
  const auto& one_core = GpuTransport::family().find("one_core");
  const auto from = [&](const char* machine, double bytes) {
    return require(copies_win_from(io::shipped_machine(machine), one_core, bytes, 1000), machine);
  };
  EXPECT_EQ(from("summit", 8), 5);
  EXPECT_EQ(from("summit", 2048), 6);
  EXPECT_EQ(from("summit", 8192), 10);
  EXPECT_EQ(from("lassen-spectrum", 8), 6);
  EXPECT_EQ(from("lassen-spectrum", 2048), 8);
  EXPECT_EQ(from("lassen-spectrum", 8192), 25);
  EXPECT_EQ(from("lassen-mvapich", 8), 42);
  EXPECT_EQ(from("lassen-mvapich", 2048), 55);
  EXPECT_EQ(from("lassen-mvapich", 8192), 32);
  for (const char* machine : {"summit", "lassen-spectrum", "lassen-mvapich"}) {
    for (const double bytes : {65536.0, 524288.0}) EXPECT_EQ(from(machine, bytes), 0) << machine;
  }
}

// A single small message is cheapest straight; from about ten on, the host's ways win, all cores
// most.
TEST(GpuTransport, SmallMessagesGoStraightAloneAndByTheHostTogether) {
  for (const char* name : {"summit", "lassen-spectrum", "lassen-mvapich"}) {
    const Machine m = io::shipped_machine(name);
    for (const char* way : {"one_core", "many_cores", "shared_memory"}) {
      EXPECT_LT(seconds(m, "direct", {1, 8, 1}), seconds(m, way, {1, 8, 1})) << name << ", " << way;
    }
    EXPECT_LT(seconds(m, "many_cores", {100, 8, 1}), seconds(m, "one_core", {100, 8, 1})) << name;
  }
}

struct Measured {
  const char* way;
  double small_us, large_us;  // messages of 4 bytes and of 128 KiB
};

/// The model against an exchange of all GPUs of 32 nodes with all others.
void expect_near(const char* name, double messages, int senders,
                 const std::vector<Measured>& measured) {
  const Machine m = io::shipped_machine(name);
  constexpr double within = 2.2;
  for (const Measured& one : measured) {
    const double small = 1e6 * seconds(m, one.way, {messages, 4, senders});
    const double large = 1e6 * seconds(m, one.way, {messages, 131072, senders});
    EXPECT_LT(std::max(small / one.small_us, one.small_us / small), within)
        << name << ", " << one.way;
    EXPECT_LT(std::max(large / one.large_us, one.large_us / large), within)
        << name << ", " << one.way;
  }
  for (std::size_t k = 1; k < measured.size(); ++k) {  // slowest first for small messages
    EXPECT_GT(seconds(m, measured[k - 1].way, {messages, 4, senders}),
              seconds(m, measured[k].way, {messages, 4, senders}))
        << name << ", " << measured[k].way;
  }
}

TEST(GpuTransport, IsNearWhatWasMeasuredOn32Nodes) {
  expect_near("summit", 191, 6,
              {{"direct", 740, 14367},
               {"one_core", 208, 15266},
               {"shared_memory", 84, 5349},
               {"many_cores", 78, 7724}});
  // Shared memory took 843 us for small messages there: a flaw of that library's small copies,
  // which no formula has.
  expect_near("lassen-spectrum", 127, 4,
              {{"direct", 488, 5557}, {"one_core", 144, 5814}, {"many_cores", 61, 5409}});
}

}  // namespace model_gpu_test
}  // namespace nodewise::model
