// From machine files to the costs of the event simulation.
#include <algorithm>

#include <gtest/gtest.h>

#include "nodewise/model/event_costs.hpp"

namespace nodewise::model {
namespace model_event_costs_test {

Machine machine() {
  Machine m;
  m.switch_sizes = {100, 1000};
  m.path(Locality::same_socket)[0] = MessageParameters{1e-7, 1e10};
  m.path(Locality::same_node)[0] = MessageParameters{4e-7, 5e9};
  m.path(Locality::other_node) = {MessageParameters{2e-6, 1e9}, MessageParameters{3e-6, 2e9},
                                  MessageParameters{1e-6, 4e9, 8e9}};
  return m;
}

TEST(EventCosts, ComeFromLocalitiesAndProtocols) {
  Machine m = machine();
  m.overheads = MessageOverheads{1e-8, 2e-8, 5e-7, 6e-7, 3e-8};
  const EventCosts costs = event_costs(m, overheads_of(m), {});
  ASSERT_EQ(costs.off_node.size(), 3U);
  EXPECT_EQ(costs.off_node[1].from_bytes, 101);
  EXPECT_EQ(costs.off_node[2].from_bytes, 1001);
  EXPECT_DOUBLE_EQ(costs.off_node[1].latency, 3e-6 - 5e-7 - 6e-7);
  EXPECT_EQ(costs.off_node[2].latency, 0);  // not less, though the overheads are more
  EXPECT_DOUBLE_EQ(costs.off_node[2].seconds_per_byte, 1 / 4e9);
  EXPECT_DOUBLE_EQ(costs.nic_seconds_per_byte, 1 / 8e9);
  EXPECT_EQ(costs.gap, 3e-8);
  EXPECT_DOUBLE_EQ(costs.on_node[0].latency, 4e-7 - 3e-8);
  EXPECT_DOUBLE_EQ(costs.on_domain[0].latency, 1e-7 - 3e-8);
}

TEST(EventCosts, SwitchWhereTheLocalityDoes) {
  Machine m = machine();
  m.own_switch_sizes[2] = SwitchSizes{10, 20};
  const EventCosts costs = event_costs(m, overheads_of(m), {});
  ASSERT_EQ(costs.off_node.size(), 3U);
  EXPECT_EQ(costs.off_node[1].from_bytes, 11);
  EXPECT_EQ(costs.off_node[2].from_bytes, 21);
  EXPECT_EQ(costs.on_node[1].from_bytes, 101);
}

// A message alone costs what the postal model says, whatever part of it is overhead.
TEST(EventCosts, OneMessageCostsItsLatencyAndItsBytes) {
  const Machine m = machine();
  for (const EventScenario& scenario : event_scenarios(m)) {
    SCOPED_TRACE(scenario.name);
    const EventCosts costs = event_costs(m, scenario.overheads, {});
    const mpi::Topology topology(std::vector<int>{0, 0, 1});
    for (const std::int64_t bytes : {10, 500, 5000}) {
      const MessageStages stages = {{{{2, bytes}}, {}, {}}};
      const MessageParameters& p = m.parameters(Locality::other_node, static_cast<double>(bytes));
      EXPECT_NEAR(simulate_events(stages, topology, costs).end(),
                  p.latency_s + static_cast<double>(bytes) / p.rate_bytes_per_s, 1e-15);
    }
  }
}

TEST(EventCosts, WhatIsNotKnownIsAssumed) {
  const MessageOverheads assumed = overheads_of(machine());
  EXPECT_DOUBLE_EQ(assumed.send_on_node_s, 1e-7);
  EXPECT_DOUBLE_EQ(assumed.receive_on_node_s, 1e-7);
  EXPECT_DOUBLE_EQ(assumed.send_other_node_s, 5e-7);
  EXPECT_DOUBLE_EQ(assumed.receive_other_node_s, 5e-7);
  EXPECT_EQ(assumed.nic_gap_s, 50e-9);
}

TEST(EventCosts, ScenariosAreTheBaseAndFourCorners) {
  Machine m = machine();
  m.overheads = MessageOverheads{1e-8, 2e-8, 5e-7, 6e-7, 0};
  const std::vector<EventScenario> all = event_scenarios(m);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].overheads, *m.overheads);
  int large_gaps = 0;
  int costly = 0;
  for (std::size_t k = 1; k < all.size(); ++k) {
    const MessageOverheads& o = all[k].overheads;
    EXPECT_TRUE(o.nic_gap_s == 0 || o.nic_gap_s == 200e-9);
    large_gaps += o.nic_gap_s > 0 ? 1 : 0;
    costly += o.send_on_node_s == 5e-7 && o.receive_on_node_s == 6e-7 ? 1 : 0;
  }
  EXPECT_EQ(large_gaps, 2);
  EXPECT_EQ(costly, 2);
}

}  // namespace model_event_costs_test
}  // namespace nodewise::model
