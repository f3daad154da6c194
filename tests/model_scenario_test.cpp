// What scenarios charge messages between nodes, by hand, in every formula that costs them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/allreduce_cost.hpp"
#include "nodewise/model/cost_term.hpp"
#include "nodewise/model/event_costs.hpp"
#include "nodewise/model/overlapped_cost.hpp"
#include "nodewise/model/unused_parameters.hpp"

#include "model_support.hpp"

namespace nodewise::model {
namespace model_scenario_test {

/// alpha = 1 s, 8 B/s a rank and 16 B/s a node; D - h_m = 2 hops of 1/2 s; B_max / B = 3.
Machine machine_in(const char* scenario) {
  Machine machine = test::round_machine();
  machine.network = FatTree{2, 2};
  machine.hop_latency_s = 0.5;
  machine.hardware_bytes_per_s = 24;
  machine.scenario = scenario;
  return machine;
}

mpi::Topology nodes_of_two() {
  return mpi::Topology(std::vector<int>{0, 0, 1, 1});
}

/// Each of four ranks sends 16 bytes to the other node: m / l = 4 / 2, and two ranks of a node.
ExchangeTally all_send(const Machine& machine, const mpi::Topology& topology) {
  ExchangeTally tally(machine, topology);
  for (int r = 0; r < 4; ++r) tally.add(0, r, (r + 2) % 4, 16);
  return tally;
}

struct Expected {
  const char* scenario;
  double distance_s, multicore_s, limited_bandwidth_s;
  double seconds() const { return 1 + 2 + distance_s + multicore_s + limited_bandwidth_s; }
};
const std::vector<Expected> all_expected = {{"baseline", 0, 0, 0},   {"distance", 1, 0, 0},
                                            {"beta", 1, 0, 8},       {"alpha_beta", 1, 1, 8},
                                            {"beta_gamma", 1, 1, 8}, {"alpha_beta_gamma", 1, 2, 8}};

TEST(Scenario, ChargesMessagesOfAnExchange) {
  const mpi::Topology topology = nodes_of_two();
  for (const Expected& e : all_expected) {
    const Machine machine = machine_in(e.scenario);
    const ExchangeTally tally = all_send(machine, topology);
    const ExchangeCost cost = tally.total();
    EXPECT_EQ(cost.latency_s, 1) << e.scenario;
    EXPECT_EQ(cost.bandwidth_s, 2) << e.scenario;
    EXPECT_EQ(cost.injection_s, 0) << e.scenario;
    EXPECT_DOUBLE_EQ(cost.distance_s, e.distance_s) << e.scenario;
    EXPECT_DOUBLE_EQ(cost.multicore_s, e.multicore_s) << e.scenario;
    EXPECT_DOUBLE_EQ(cost.limited_bandwidth_s, e.limited_bandwidth_s) << e.scenario;
    EXPECT_EQ(tally.most_crowded().messages, 4);
    EXPECT_EQ(tally.most_crowded().ranks_a_node, 2);
  }
}

TEST(Scenario, ChargesOverlappingMessagesTheirLatencyOnce) {
  for (const Expected& e : all_expected) {
    const Machine machine = machine_in(e.scenario);
    RankLoad load;
    load.sent.add(machine, Locality::other_node, 16);
    load.received.add(machine, Locality::other_node, 16);
    const Charges one = charges(machine, {2, 4, 2});
    EXPECT_DOUBLE_EQ(overlapped_stage_s(machine, load, one, {1, 1}, {1, 1}), e.seconds())
        << e.scenario;
    load.sent.add(machine, Locality::other_node, 0);
    EXPECT_DOUBLE_EQ(overlapped_stage_s(machine, load, one, {1, 1}, {1, 1}), e.seconds())
        << e.scenario;
  }
}

TEST(Scenario, ChargesSimulatedMessages) {
  for (const Expected& e : all_expected) {
    const Machine machine = machine_in(e.scenario);
    const EventCosts costs = event_costs(machine, {}, charges(machine, {2, 4, 2}));
    const MessageCost& off = costs.off_node.front();
    EXPECT_DOUBLE_EQ(off.latency + 16 * off.seconds_per_byte, e.seconds()) << e.scenario;
    EXPECT_EQ(costs.on_node.front().latency, 0.25) << e.scenario;
  }
}

TEST(Scenario, ChargesReductions) {
  // On the node 1/4 + 8/32 s. Between nodes all four ranks send: m / l and the ranks as above.
  const auto doubling = [](const char* scenario) {
    return allreduce_s(machine_in(scenario), AllreduceAlgorithm::recursive_doubling, 2, 2, 8) - 0.5;
  };
  EXPECT_DOUBLE_EQ(doubling("baseline"), 1 + 1);
  EXPECT_DOUBLE_EQ(doubling("distance"), 2 + 1);
  EXPECT_DOUBLE_EQ(doubling("beta"), 2 + 5) << "beyond the limit of the node";
  EXPECT_DOUBLE_EQ(doubling("alpha_beta_gamma"), 4 + 5);
}

TEST(Scenario, LeavesMessagesOnTheNodeAlone) {
  const Machine machine = machine_in("alpha_beta_gamma");
  const mpi::Topology topology = nodes_of_two();
  ExchangeTally tally(machine, topology);
  tally.add(0, 0, 1, 32);
  EXPECT_EQ(tally.total().total(), 0.25 + 1);
  EXPECT_EQ(charges(machine, {1, 0, 1}).shared_links, 0);
}

TEST(Scenario, CountsTheRanksOfANodeThatSend) {
  NetworkLoad load;
  load.n_nodes = 4;
  for (const auto& [senders, a_node] :
       std::vector<std::pair<double, double>>{{0, 1}, {1, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}}) {
    load.senders = senders;
    EXPECT_EQ(Crowd::of(load).ranks_a_node, a_node) << senders;
  }
}

TEST(Scenario, TakesAwayFromTheLimitOfTheNodeWhatARankLosesItself) {
  Machine machine = machine_in("beta");
  machine.path(Locality::other_node)[2]->injection_bytes_per_s = 4;
  const mpi::Topology topology = nodes_of_two();
  const ExchangeCost cost = all_send(machine, topology).total();
  EXPECT_EQ(cost.injection_s, 0) << "the node needs 8 s, the rank itself 10";
  machine.scenario = "distance";
  EXPECT_EQ(all_send(machine, topology).total().injection_s, 8 - 2);
}

TEST(Scenario, IsNothingWhereTheMachineDoesNotTell) {
  Machine machine = machine_in("alpha_beta_gamma");
  machine.network = std::monostate();
  machine.hardware_bytes_per_s.reset();
  const mpi::Topology topology = nodes_of_two();
  const ExchangeCost cost = all_send(machine, topology).total();
  EXPECT_EQ(cost.distance_s, 0);
  EXPECT_EQ(cost.limited_bandwidth_s, 0);
  EXPECT_EQ(cost.multicore_s, 1) << "the ranks of a node are known";
}

TEST(Scenario, IsTheMachinesUnlessAnotherIsWanted) {
  Machine eos = io::shipped_machine("eos");
  const mpi::Topology two(std::vector<int>{0, 1});
  const auto message_s = [&] {
    ExchangeTally tally(eos, two);
    tally.add(0, 0, 1, 0);
    return tally.total().total();
  };
  take_scenario(eos, "automatic");
  EXPECT_EQ(eos.scenario, "distance");
  EXPECT_NEAR(message_s(), 2.318e-6, 1e-12);
  take_scenario(eos, "baseline");
  EXPECT_NEAR(message_s(), 0.238e-6, 1e-12);
  for (const std::string& name : io::shipped_machine_names()) {
    if (name == "eos") continue;
    EXPECT_EQ(io::shipped_machine(name).scenario, "baseline") << name;
  }
}

TEST(Scenario, HasTheLatencyOfAHopFromTheLargestOne) {
  Machine machine = machine_in("distance");
  EXPECT_EQ(hop_latency_s(machine, 2, 2), 0.5) << "two hops beyond the fewest";
  EXPECT_EQ(hop_latency_s(machine, 2, 0.5), 0);
  machine.network = std::monostate();
  EXPECT_FALSE(hop_latency_s(machine, 2, 2));
  EXPECT_NEAR(hop_latency_s(io::shipped_machine("eos"), 512, 2.318e-6).value(), 0.416e-6, 1e-12);
}

TEST(UnusedParameters, AreWhatNoPredictionTakes) {
  Machine eos = io::shipped_machine("eos");
  EXPECT_EQ(unused_parameters(eos),
            (std::vector<std::string>{"network.hardware_bytes_per_s", "computation.caches"}));
  eos.scenario = "baseline";
  eos.gpu.emplace();
  eos.progress.resize(2);
  eos.s_per_flop_by_size = {{unlimited, 1e-9}};
  EXPECT_EQ(unused_parameters(eos),
            (std::vector<std::string>{"network.hop_latency_s", "network.hardware_bytes_per_s",
                                      "computation.s_per_flop_by_level", "computation.caches",
                                      "gpu", "progress"}));
  EXPECT_TRUE(unused_parameters(test::round_machine()).empty());
}

}  // namespace model_scenario_test
}  // namespace nodewise::model
