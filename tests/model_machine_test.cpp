// Machines as data: which parameters a message gets, and which machines are refused.
#include <cmath>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::model {
namespace model_machine_test {

using enum Locality;
using enum Protocol;

/// The parameters of a set, each told apart by its latency: 10 * locality + protocol.
Machine numbered_machine() {
  Machine machine;
  machine.name = "numbered";
  machine.switch_sizes = {100, 1000};
  for (int l = 0; l < n_localities; ++l) {
    for (int p = 0; p < n_protocols; ++p) {
      machine.paths[static_cast<std::size_t>(l)][static_cast<std::size_t>(p)] =
          MessageParameters{10.0 * l + p, 1e9, unlimited};
    }
  }
  return machine;
}

void drop(Machine& machine, Locality locality, Protocol protocol) {
  machine.path(locality)[static_cast<std::size_t>(protocol)].reset();
}

std::string refusal(const Machine& machine) {
  try {
    check(machine);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    return e.what();
  }
  return "accepted";
}

TEST(Machine, SwitchesProtocolsAboveTheirSizes) {
  const Machine machine = numbered_machine();
  for (const Locality locality : {same_socket, same_node, other_node}) {
    EXPECT_EQ(machine.protocol_of(locality, 0), in_envelope);
    EXPECT_EQ(machine.protocol_of(locality, 100), in_envelope);
    EXPECT_EQ(machine.protocol_of(locality, 100.5), eager);
    EXPECT_EQ(machine.protocol_of(locality, 1000), eager);
    EXPECT_EQ(machine.protocol_of(locality, 1001), rendezvous);
  }
}

TEST(Machine, LocalitiesMayHaveSwitchSizesOfTheirOwn) {
  Machine machine = numbered_machine();
  machine.own_switch_sizes[1] = SwitchSizes{0, 50};
  check(machine);
  EXPECT_EQ(machine.protocol_of(same_node, 50), eager);
  EXPECT_EQ(machine.protocol_of(same_node, 51), rendezvous);
  EXPECT_EQ(machine.protocol_of(other_node, 51), in_envelope);
  EXPECT_EQ(machine.parameters(same_node, 51).latency_s, 12);
  EXPECT_EQ(machine.parameters(same_socket, 51).latency_s, 0);
  // Whoever stands in for another does so with its sizes, too.
  machine.path(same_socket) = {};
  EXPECT_EQ(machine.measured_as(same_socket), same_node);
  EXPECT_EQ(machine.parameters(same_socket, 51).latency_s, 12);
}

TEST(Machine, GivesEachLocalityAndProtocolItsOwnParameters) {
  const Machine machine = numbered_machine();
  const double lengths[] = {8, 500, 1e6};
  for (int l = 0; l < n_localities; ++l) {
    for (int p = 0; p < n_protocols; ++p) {
      EXPECT_EQ(machine.parameters(static_cast<Locality>(l), lengths[p]).latency_s, 10.0 * l + p);
    }
  }
}

TEST(Machine, TakesLongerThenShorterMessagesForAMissingProtocol) {
  Machine machine = numbered_machine();
  drop(machine, other_node, in_envelope);
  EXPECT_EQ(machine.parameters(other_node, 8).latency_s, 21);
  drop(machine, other_node, eager);
  EXPECT_EQ(machine.parameters(other_node, 8).latency_s, 22);
  machine = numbered_machine();
  drop(machine, other_node, rendezvous);
  EXPECT_EQ(machine.parameters(other_node, 1e6).latency_s, 21);
  drop(machine, other_node, eager);
  EXPECT_EQ(machine.parameters(other_node, 1e6).latency_s, 20);
}

TEST(Machine, TakesTheNearestForAMissingLocality) {
  Machine machine = numbered_machine();
  machine.path(same_socket) = {};
  EXPECT_EQ(machine.parameters(same_socket, 8).latency_s, 10);
  machine.path(same_node) = {};
  EXPECT_EQ(machine.parameters(same_socket, 8).latency_s, 20);
  EXPECT_EQ(machine.parameters(same_node, 8).latency_s, 20);
  machine = numbered_machine();
  machine.path(same_node) = {};
  EXPECT_EQ(machine.parameters(same_node, 8).latency_s, 0) << "one socket a node";
  EXPECT_THROW((void)Machine().parameters(other_node, 8), Error);
}

TEST(Machine, AcceptsWhatIsSensible) {
  EXPECT_EQ(refusal(numbered_machine()), "accepted");
}

TEST(Machine, RefusesWhatIsNotByName) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    std::string message;
    std::function<void(Machine&)> spoil;
  };
  const auto far_short = [](Machine& m) -> MessageParameters& { return *m.path(other_node)[0]; };
  const std::vector<Case> cases = {
      {"name is empty", [](Machine& m) { m.name.clear(); }},
      {"node.sockets is 0; a count", [](Machine& m) { m.sockets_per_node = 0; }},
      {"node.cores is -1; a count", [](Machine& m) { m.cores_per_node = -1; }},
      {"protocols.other_node.short.rate_bytes_per_s is -18000000; a rate must be positive",
       [=](Machine& m) { far_short(m).rate_bytes_per_s = -1.8e7; }},
      {"protocols.other_node.short.rate_bytes_per_s is nan",
       [=](Machine& m) { far_short(m).rate_bytes_per_s = nan; }},
      {"protocols.other_node.short.rate_bytes_per_s is inf; a rate must be positive and finite",
       [=](Machine& m) { far_short(m).rate_bytes_per_s = unlimited; }},
      {"protocols.other_node.short.injection_bytes_per_s is 0",
       [=](Machine& m) { far_short(m).injection_bytes_per_s = 0; }},
      {"protocols.other_node.short.latency_s is -1; a time",
       [=](Machine& m) { far_short(m).latency_s = -1; }},
      {"protocols.other_node.short.latency_s is inf",
       [=](Machine& m) { far_short(m).latency_s = unlimited; }},
      {"protocols.other_node.short.rate_bytes_per_s is 5e-324; only 1 to 1e+18 bytes/s make sense",
       [=](Machine& m) { far_short(m).rate_bytes_per_s = 5e-324; }},
      {"protocols.other_node.short.rate_bytes_per_s is 1e-300; only 1 to",
       [=](Machine& m) { far_short(m).rate_bytes_per_s = 1e-300; }},
      {"protocols.other_node.short.rate_bytes_per_s is 1e+300; only 1 to",
       [=](Machine& m) { far_short(m).rate_bytes_per_s = 1e300; }},
      {"protocols.other_node.short.latency_s is 1e+300; only 1e-24 to 1000000 s make sense",
       [=](Machine& m) { far_short(m).latency_s = 1e300; }},
      {"computation.s_per_flop_by_level[0] is 5e-324; only",
       [](Machine& m) { m.s_per_flop_by_level = {5e-324}; }},
      {"node.cores is 2000000000; at most 1000000000",
       [](Machine& m) { m.cores_per_node = 2'000'000'000; }},
      {"name has control characters", [](Machine& m) { m.name = "\x1b[2J"; }},
      {"name has control characters",
       [](Machine& m) {
         m.name =
             "\xc2\x9b"
             "2J";
       }},
      {"source has control characters", [](Machine& m) { m.source = "a\rb"; }},
      {"notes has control characters",
       [](Machine& m) {
         m.notes = {"", "\x7f"};
       }},
      {"protocols.other_node is empty", [](Machine& m) { m.path(other_node) = {}; }},
      {"protocols.switch_sizes.short_bytes is -1",
       [](Machine& m) { m.switch_sizes.short_bytes = -1; }},
      {"protocols.switch_sizes.eager_bytes is 99; it must not be below short_bytes, 100",
       [](Machine& m) { m.switch_sizes.eager_bytes = 99; }},
      {"protocols.same_node.switch_sizes.eager_bytes is 5; it must not be below short_bytes, 6",
       [](Machine& m) {
         m.own_switch_sizes[1] = SwitchSizes{6, 5};
       }},
      {"protocols.same_socket.switch_sizes is there, but no protocol",
       [](Machine& m) {
         m.own_switch_sizes[0] = SwitchSizes{};
         m.path(same_socket) = {};
       }},
      {"queue_search_s is nan", [](Machine& m) { m.queue_search_s = nan; }},
      {"contention_s_per_byte_per_link is -1",
       [](Machine& m) { m.contention_s_per_byte_per_link = -1; }},
      {"network.nodes_per_switch is 0",
       [](Machine& m) {
         m.network = FatTree{0, 2};
       }},
      {"network.levels is 0",
       [](Machine& m) {
         m.network = FatTree{2, 0};
       }},
      {"network.dimensions is empty", [](Machine& m) { m.network = Torus{}; }},
      {"network.dimensions[1] is 0",
       [](Machine& m) {
         m.network = Torus{{2, 0}, 1};
       }},
      {"network.groups is 0",
       [](Machine& m) {
         m.network = Dragonfly{0, 1, 1, 1, 1};
       }},
      {"network.links_between_groups is nan",
       [](Machine& m) {
         m.network = Dragonfly{1, 1, 1, 1, nan};
       }},
      {"network.hop_latency_s is -1", [](Machine& m) { m.hop_latency_s = -1; }},
      {"network.hardware_bytes_per_s is 0", [](Machine& m) { m.hardware_bytes_per_s = 0; }},
      {"computation.s_per_flop_by_level[1] is 0",
       [](Machine& m) {
         m.s_per_flop_by_level = {1, 0};
       }},
      {"computation.s_per_flop_by_size[1].up_to_nonzeros is 10; sizes must be positive and ascend",
       [](Machine& m) {
         m.s_per_flop_by_size = {{10, 1}, {10, 1}};
       }},
      {"computation.thread_bandwidth[1].threads is 1",
       [](Machine& m) {
         m.thread_bandwidth = {{1, 1e9}, {1, 1e9}};
       }},
      {"computation.thread_bandwidth[0].bytes_per_s is -1",
       [](Machine& m) {
         m.thread_bandwidth = {{1, -1}};
       }},
      {"computation.caches[0].bytes is 0",
       [](Machine& m) {
         m.caches = {{0, 1}};
       }},
      {"gpu.to_host.rate_bytes_per_s is 0",
       [](Machine& m) {
         m.gpu.emplace();
         m.gpu->to_host = {0, 0};
         m.gpu->to_device = {0, 1e9};
       }},
      {"gpu.direct.other_node.long.latency_s is -1",
       [](Machine& m) {
         m.gpu.emplace();
         m.gpu->to_host = m.gpu->to_device = {0, 1e9};
         m.gpu->direct.back() = GpuMessages{{0, unlimited}, {-1, 1e9}};
       }},
      {"overheads.nic_gap_s is -1",
       [](Machine& m) {
         m.overheads = MessageOverheads{0, 0, 0, 0, -1};
       }},
      {"allreduce.nodes is 3; there cannot be more than ranks, 2",
       [](Machine& m) {
         m.allreduces = MeasuredAllreduces{2, 3, {{8, 1}}, {}};
       }},
      {"allreduce is there, but no time",
       [](Machine& m) {
         m.allreduces = MeasuredAllreduces{2, 1, {}, {}};
       }},
      {"allreduce.mpi[1].bytes is 8; sizes must be finite, positive and ascend",
       [](Machine& m) {
         m.allreduces = MeasuredAllreduces{2, 1, {{8, 1}, {8, 1}}, {}};
       }},
      {"allreduce.node_aware[0].seconds is 0; this time must be",
       [](Machine& m) {
         m.allreduces = MeasuredAllreduces{2, 1, {}, {{8, 0}}};
       }},
      {"progress[0].bytes is nan",
       [](Machine& m) {
         m.progress = {{nan, 0.5, {}}};
       }},
      {"progress[0].send is 1.5; a part is between 0 and 1",
       [](Machine& m) {
         m.progress = {{8, 0.5, 1.5}};
       }},
  };
  for (const Case& c : cases) {
    Machine machine = numbered_machine();
    c.spoil(machine);
    EXPECT_THAT(refusal(machine), testing::HasSubstr(c.message));
  }
}

}  // namespace model_machine_test
}  // namespace nodewise::model
