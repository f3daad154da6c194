// Exchanges message by message: small cases by hand, the limits that have a formula, and what must
// not matter.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/event_simulation.hpp"

namespace nodewise::model {
namespace model_event_simulation_test {

mpi::Topology blocks(int n_ranks, int per_node) {
  std::vector<int> node_of_rank;
  for (int r = 0; r < n_ranks; ++r) node_of_rank.push_back(r / per_node);
  return mpi::Topology(node_of_rank);
}

/// Small integers, so that every time below is exact.
EventCosts integer_costs() {
  EventCosts costs;
  costs.on_node = {{0, 1, 2, 4, 1}};
  costs.off_node = {{0, 8, 16, 32, 2}};
  costs.gap = 3;
  costs.nic_seconds_per_byte = 1;
  return costs;
}

/// Nothing costs anything.
EventCosts free_costs() {
  EventCosts costs;
  costs.on_node = {{}};
  costs.off_node = {{}};
  return costs;
}

MessageStages no_messages(std::size_t n_stages, int n_ranks) {
  return MessageStages(n_stages,
                       std::vector<std::vector<SentMessage>>(static_cast<std::size_t>(n_ranks)));
}

TEST(EventSimulation, OneMessageBetweenNodes) {
  MessageStages stages = no_messages(1, 2);
  stages[0][0] = {{1, 10}};
  const StageTimes times = simulate_events(stages, blocks(2, 1), integer_costs());
  EXPECT_EQ(times.of_rank(0), 8);                     // posted
  EXPECT_EQ(times.of_rank(1), 8 + 32 + 2 * 10 + 16);  // no gap: it is the card's, afterwards
  EXPECT_EQ(times.end(), 76);
}

TEST(EventSimulation, OneMessageOnANode) {
  MessageStages stages = no_messages(1, 2);
  stages[0][0] = {{1, 10}};
  const StageTimes times = simulate_events(stages, blocks(2, 2), integer_costs());
  EXPECT_EQ(times.of_rank(0), 1);
  EXPECT_EQ(times.of_rank(1), 1 + 4 + 10 + 2);
}

TEST(EventSimulation, MessagesWithinADomainHaveTheirOwnCosts) {
  MessageStages stages = no_messages(1, 4);
  stages[0][0] = {{1, 10}};
  stages[0][3] = {{2, 10}};
  EventCosts costs = integer_costs();
  costs.on_domain = {{0, 0, 0, 1, 0}};
  const mpi::Topology nodes = blocks(4, 4);
  const StageTimes divided =
      simulate_events(stages, nodes.with_domains(std::vector<int>{0, 0, 1, 2}), costs);
  EXPECT_EQ(divided.of_rank(1), 1);
  EXPECT_EQ(divided.of_rank(2), 17);
  EXPECT_EQ(simulate_events(stages, nodes, costs).of_rank(2), 1);
}

// Ranks 0 and 1 share the card of their node, as do ranks 2 and 3: the second message leaves when
// the card has been busy with the first for 3 + 1 * 10.
TEST(EventSimulation, TwoSendersShareTheCardOfTheirNode) {
  MessageStages stages = no_messages(1, 4);
  stages[0][0] = {{2, 10}};
  stages[0][1] = {{3, 10}};
  const StageTimes times = simulate_events(stages, blocks(4, 2), integer_costs());
  EXPECT_EQ(times.of_rank(2), 76);
  EXPECT_EQ(times.of_rank(3), 76 + 13);
}

// From two nodes to one: now it is the receiving card.
TEST(EventSimulation, TwoNodesShareTheCardOfTheReceivers) {
  MessageStages stages = no_messages(1, 4);
  stages[0][0] = {{2, 10}};
  stages[0][1] = {{3, 10}};
  const mpi::Topology topology(std::vector<int>{0, 1, 2, 2});
  const StageTimes times = simulate_events(stages, topology, integer_costs());
  EXPECT_EQ(times.of_rank(2), 76);
  EXPECT_EQ(times.of_rank(3), 76 + 13);
}

// k messages of one rank: what is slowest decides, the overhead, the gap with the bytes, or the
// receiver's overhead.
TEST(EventSimulation, ManyMessagesOfARank) {
  constexpr int k = 5;
  MessageStages stages = no_messages(1, k + 1);
  for (int to = 1; to <= k; ++to) stages[0][0].push_back({to, 10});
  EventCosts costs = integer_costs();
  const auto end = [&] { return simulate_events(stages, blocks(k + 1, 1), costs).end(); };
  EXPECT_EQ(end(), 8 + (k - 1) * 13 + 32 + 20 + 16);
  costs.off_node[0].send_overhead = 20;
  EXPECT_EQ(end(), k * 20 + 32 + 20 + 16);
}

TEST(EventSimulation, AReceiverTakesOneMessageAfterTheOther) {
  constexpr int k = 5;
  MessageStages stages = no_messages(1, k + 1);
  for (std::size_t from = 1; from <= k; ++from) stages[0][from] = {{0, 10}};
  const StageTimes times = simulate_events(stages, blocks(k + 1, 1), integer_costs());
  EXPECT_EQ(times.of_rank(0), 8 + 32 + 20 + k * 16);  // 16 is more than the card's 13
}

// Rank 0 sends before it receives: what has arrived meanwhile waits.
TEST(EventSimulation, ARankPostsAllBeforeItReceives) {
  MessageStages stages = no_messages(1, 4);
  stages[0][0] = std::vector<SentMessage>(20, {1, 0});
  stages[0][2] = {{0, 0}};
  const StageTimes times = simulate_events(stages, blocks(4, 1), integer_costs());
  EXPECT_EQ(times.of_rank(0), 20 * 8 + 16);
}

// 0 -> 1 on the node, then 1 -> 2 between nodes.
TEST(EventSimulation, AStageBeginsWhenTheRankHasEndedTheOneBefore) {
  MessageStages stages = no_messages(2, 3);
  stages[0][0] = {{1, 10}};
  stages[1][1] = {{2, 10}};
  const StageTimes times =
      simulate_events(stages, mpi::Topology(std::vector<int>{0, 0, 1}), integer_costs());
  EXPECT_EQ(times.finished[0], (std::vector<double>{1, 17, 0}));
  EXPECT_EQ(times.finished[1], (std::vector<double>{1, 17 + 8, 17 + 76}));
  EXPECT_EQ(times.of_stage(0), 17);
  EXPECT_EQ(times.of_stage(1), 93);
}

// Rank 1 has nothing to do in stage 0 and sends for stage 1 at once; rank 0 is still busy.
TEST(EventSimulation, AMessageOfALaterStageWaits) {
  MessageStages stages = no_messages(2, 3);
  stages[0][2] = {{0, 100}};
  stages[1][1] = {{0, 0}};
  const StageTimes times = simulate_events(stages, blocks(3, 1), integer_costs());
  const double first = 8 + 32 + 3 + 200 + 16;  // the other was at the card before it
  EXPECT_EQ(times.finished[0][0], first);
  EXPECT_EQ(times.finished[1][0], first + 16);
}

TEST(EventSimulation, CostsGoByTheLengthOfTheMessage) {
  MessageStages stages = no_messages(1, 2);
  EventCosts costs = free_costs();
  costs.off_node = {{0, 0, 0, 1, 0}, {100, 0, 0, 10, 0}, {1000, 0, 0, 100, 0}};
  for (const auto& [bytes, expected] : std::vector<std::pair<std::int64_t, double>>{
           {0, 1}, {99, 1}, {100, 10}, {999, 10}, {1000, 100}, {5000, 100}}) {
    stages[0][0] = {{1, bytes}};
    EXPECT_EQ(simulate_events(stages, blocks(2, 1), costs).end(), expected) << bytes;
  }
}

TEST(EventSimulation, TheMemoryOfANodeIsShared) {
  MessageStages stages = no_messages(1, 4);
  stages[0][0] = {{1, 10}};
  stages[0][2] = {{3, 10}};
  EventCosts costs = integer_costs();
  costs.memory_seconds_per_byte = 3;
  EXPECT_EQ(simulate_events(stages, blocks(4, 4), costs).end(), 1 + 30 + 4 + 30 + 2);
  EXPECT_EQ(simulate_events(stages, blocks(4, 2), costs).end(), 1 + 4 + 30 + 2);
}

// A ring of five nodes: 0 -> 2 and 1 -> 2 share the link from 1 to 2; 0 -> 4 goes backwards.
TEST(EventSimulation, LinksCarryOneMessageAtATime) {
  EventCosts costs = free_costs();
  costs.links = torus_links({5, 1, 1}, 1, 100);
  std::vector<int> path;
  costs.links.find_path(0, 2, path);
  EXPECT_EQ(path, (std::vector<int>{0, 6}));
  path.clear();
  costs.links.find_path(0, 4, path);
  EXPECT_EQ(path, (std::vector<int>{1}));
  MessageStages stages = no_messages(1, 5);
  stages[0][0] = {{2, 10}};
  EXPECT_EQ(simulate_events(stages, blocks(5, 1), costs).end(), 2 * 100 + 10);
  stages[0][1] = {{2, 300}};
  // Both are posted at once. If the first comes first it claims the link from node 1 from 100 to
  // 110, when its head is there, and the pause before is too short for the other; otherwise its
  // head has to wait until 300.
  EXPECT_EQ(simulate_events(stages, blocks(5, 1), costs).end(), 110 + 100 + 300);
  std::set<double> ends;
  for (std::uint64_t order = 1; order < 20; ++order) {
    ends.insert(simulate_events(stages, blocks(5, 1), costs, order).end());
  }
  EXPECT_EQ(ends, (std::set<double>{110 + 100 + 300, 300 + 100 + 10}));
}

// Over a link that is claimed from 100 to 110 what fits in before goes at once.
TEST(EventSimulation, PausesAreUsed) {
  EventCosts costs = free_costs();
  costs.links = torus_links({5, 1, 1}, 1, 100);
  MessageStages stages = no_messages(1, 5);
  stages[0][0] = {{2, 10}};
  for (const std::int64_t bytes : {100, 101}) {
    stages[0][1] = {{2, bytes}};
    stages[0][1].push_back({2, 90});
    // The second message of rank 1 takes what is left behind the first, or the pause.
    const double first = bytes == 100 ? 0 : 110;
    const double second = bytes == 100 ? 110 : 0;
    const double end = std::max(first + 100 + double(bytes), second + 100 + 90);
    EXPECT_EQ(simulate_events(stages, blocks(5, 1), costs).end(), end) << bytes;
  }
}

// Two ranks post at one instant through the card of their node; one of them waits for the other.
TEST(EventSimulation, OrdersDecideWhatHappensAtOneInstant) {
  MessageStages stages = no_messages(1, 4);
  stages[0][0] = {{2, 10}};
  stages[0][1] = {{3, 10}};
  std::set<double> of_rank_2;
  for (std::uint64_t order = 0; order < 20; ++order) {
    const auto times = simulate_events(stages, blocks(4, 2), integer_costs(), order).finished[0];
    EXPECT_EQ(times, simulate_events(stages, blocks(4, 2), integer_costs(), order).finished[0]);
    EXPECT_EQ(std::minmax(times[2], times[3]), std::minmax(76.0, 76.0 + 13));
    of_rank_2.insert(times[2]);
  }
  EXPECT_EQ(of_rank_2, (std::set<double>{76, 89}));
}

// Who of equals comes first does not matter to a card that never pauses, nor to who takes all.
TEST(EventSimulation, OrdersLeaveTheWorkAsItIs) {
  constexpr int k = 6;
  MessageStages stages = no_messages(1, 2 * k);
  for (std::size_t from = 1; from < k; ++from) stages[0][from] = {{0, 10}, {k, 10}};
  const auto of_order = [&](std::uint64_t order) {
    return simulate_events(stages, blocks(2 * k, k), integer_costs(), order).finished[0];
  };
  for (std::uint64_t order = 0; order < 20; ++order) {
    EXPECT_EQ(of_order(order)[0], 1 + 4 + 10 + 2 * (k - 1));
    // Posted behind the messages on the node, through one card, 13 each, and taken 16 each.
    EXPECT_EQ(of_order(order)[k], 9 + 32 + 20 + 16 * (k - 1));
  }
}

// What a long message has of latency beyond a short one passes before it claims anything.
TEST(EventSimulation, HandshakesHoldUpNobodyElse) {
  EventCosts costs = integer_costs();
  costs.off_node = {{0, 0, 0, 10, 0}, {100, 0, 0, 30, 0}};
  MessageStages stages = no_messages(1, 2);
  stages[0][0] = {{1, 100}, {1, 10}};
  // The long one has the card from 20 to 123, the short one fits in before.
  EXPECT_EQ(simulate_events(stages, blocks(2, 1), costs).of_rank(1), 30 + 100);
  stages[0][0] = {{1, 100}, {1, 20}};
  EXPECT_EQ(simulate_events(stages, blocks(2, 1), costs).of_rank(1), 123 + 10 + 20);
}

TEST(EventSimulation, WaysThroughATorusAreShortestOnes) {
  const std::array<int, 3> sides = {4, 3, 2};
  const Links links = torus_links(sides, 0, 0);
  for (int from = 0; from < 24; ++from) {
    for (int to = 0; to < 24; ++to) {
      std::vector<int> path;
      links.find_path(from, to, path);
      int hops = 0;
      int a = from;
      int b = to;
      for (const int side : sides) {
        const int ahead = (b % side - a % side + side) % side;
        hops += std::min(ahead, side - ahead);
        a /= side;
        b /= side;
      }
      EXPECT_EQ(std::ssize(path), hops);
      for (const int link : path) EXPECT_TRUE(link >= 0 && link < links.n_links);
    }
  }
}

/// Every rank sends to some others, in two stages.
MessageStages irregular(int n_ranks) {
  MessageStages stages = no_messages(2, n_ranks);
  for (int s = 0; s < 2; ++s) {
    for (int r = 0; r < n_ranks; ++r) {
      for (int k = 1; k <= 2 + r % 4; ++k) {
        const int to = (r + k * (3 + s)) % n_ranks;
        if (to != r) {
          stages[static_cast<std::size_t>(s)][static_cast<std::size_t>(r)].push_back(
              {to, 100 * ((r * k) % 7)});
        }
      }
    }
  }
  return stages;
}

EventCosts usual_costs() {
  EventCosts costs;
  costs.on_node = {{0, 1e-7, 1e-7, 2e-7, 2e-10}};
  costs.off_node = {{0, 5e-7, 5e-7, 1.3e-6, 2e-10}};
  costs.gap = 5e-8;
  costs.nic_seconds_per_byte = 1e-10;
  costs.memory_seconds_per_byte = 3e-11;
  costs.links = torus_links({3, 1, 1}, 1e-10, 1e-7);
  return costs;
}

// In this case: in general a longer message may leave a pause that another fits into.
TEST(EventSimulation, NothingIsFasterForCostingMore) {
  const MessageStages stages = irregular(12);
  const mpi::Topology topology = blocks(12, 4);
  const double before = simulate_events(stages, topology, usual_costs()).end();
  const std::vector<std::function<double&(EventCosts&)>> parameters = {
      [](EventCosts& c) -> double& { return c.on_node[0].send_overhead; },
      [](EventCosts& c) -> double& { return c.on_node[0].receive_overhead; },
      [](EventCosts& c) -> double& { return c.on_node[0].latency; },
      [](EventCosts& c) -> double& { return c.on_node[0].seconds_per_byte; },
      [](EventCosts& c) -> double& { return c.off_node[0].send_overhead; },
      [](EventCosts& c) -> double& { return c.off_node[0].receive_overhead; },
      [](EventCosts& c) -> double& { return c.off_node[0].latency; },
      [](EventCosts& c) -> double& { return c.off_node[0].seconds_per_byte; },
      [](EventCosts& c) -> double& { return c.gap; },
      [](EventCosts& c) -> double& { return c.nic_seconds_per_byte; },
      [](EventCosts& c) -> double& { return c.memory_seconds_per_byte; },
      [](EventCosts& c) -> double& { return c.links.seconds_per_byte; },
      [](EventCosts& c) -> double& { return c.links.hop_latency; },
  };
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    double last = before;
    for (const double factor : {4.0, 16.0, 256.0}) {
      EventCosts costs = usual_costs();
      parameters[p](costs) *= factor;
      const double now = simulate_events(stages, topology, costs).end();
      EXPECT_GE(now, last) << "parameter " << p << " times " << factor;
      last = now;
    }
    EXPECT_GT(last, before) << "parameter " << p << " has no effect";
  }
}

// All ranks of node 0 send to all of node 1: whichever names they have, the times are the same.
TEST(EventSimulation, NamesOfRanksOnANodeDoNotMatter) {
  constexpr int per_node = 4;
  std::vector<std::vector<double>> results;
  for (int shift = 0; shift < per_node; ++shift) {
    MessageStages stages = no_messages(1, 2 * per_node);
    for (int r = 0; r < per_node; ++r) {
      for (int k = 0; k < per_node; ++k) {
        const int to = per_node + (r + k + shift) % per_node;
        stages[0][static_cast<std::size_t>(r)].push_back({to, 1000});
      }
    }
    std::vector<double> times =
        simulate_events(stages, blocks(2 * per_node, per_node), usual_costs()).finished[0];
    std::sort(times.begin(), times.end());
    results.push_back(times);
  }
  for (const auto& times : results) {
    for (std::size_t r = 0; r < times.size(); ++r) EXPECT_DOUBLE_EQ(times[r], results[0][r]);
  }
}

// The max-rate model (Gropp, Olson, Samfass 2016) is latency + p s / min(R_N, p R_b) for p ranks of
// a node that send s bytes each to another node.
TEST(EventSimulation, LongMessagesMeetTheMaxRateModel) {
  constexpr std::int64_t s = 1'000'000;
  for (const int p : {1, 2, 4, 8, 16}) {
    MessageStages stages = no_messages(1, 2 * p);
    for (int r = 0; r < p; ++r) stages[0][static_cast<std::size_t>(r)] = {{p + r, s}};
    EventCosts costs = free_costs();
    costs.off_node[0].latency = 1e-6;
    costs.off_node[0].seconds_per_byte = 1 / 2.5e9;  // R_b: four flows fill the card
    costs.nic_seconds_per_byte = 1 / 10e9;           // R_N
    const double model = 1e-6 + p * static_cast<double>(s) / std::min(10e9, p * 2.5e9);
    const double end = simulate_events(stages, blocks(2 * p, p), costs).end();
    // Cards serve one after the other, so that the last flow goes on alone for s / R_b - s / R_N.
    EXPECT_GE(end, model * (1 - 1e-12));
    EXPECT_LE(end, model + s * (1 / 2.5e9 - 1 / 10e9) + 1e-12);
    if (p == 1) {
      EXPECT_DOUBLE_EQ(end, model);
    }
  }
}

TEST(EventSimulation, WithoutCostsEverythingIsInstant) {
  EXPECT_EQ(simulate_events(irregular(12), blocks(12, 4), free_costs()).end(), 0);
  EXPECT_EQ(simulate_events({}, blocks(12, 4), free_costs()).end(), 0);
  EXPECT_EQ(simulate_events(no_messages(3, 0), blocks(0, 1), free_costs()).end(), 0);
}

void expect_refused(const MessageStages& stages, const EventCosts& costs, const std::string& why) {
  try {
    simulate_events(stages, blocks(2, 1), costs);
    ADD_FAILURE() << "not refused: " << why;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(EventSimulation, WrongInputIsRefused) {
  MessageStages stages = no_messages(1, 2);
  for (const SentMessage wrong : {SentMessage{0, 1}, {2, 1}, {-1, 1}, {1, -1}}) {
    stages[0][0] = {wrong};
    expect_refused(stages, free_costs(), "rank 0 sends");
  }
  expect_refused(no_messages(1, 3), free_costs(), "messages of 3 ranks, not of 2");
  EventCosts costs = free_costs();
  costs.gap = -1;
  expect_refused({}, costs, "gap is -1");
  costs = free_costs();
  costs.off_node[0].latency = std::numeric_limits<double>::quiet_NaN();
  expect_refused({}, costs, "latency is");
  costs = free_costs();
  costs.on_node.clear();
  expect_refused({}, costs, "on a node have no cost");
  costs = free_costs();
  costs.off_node = {{}, {10, 0, 0, 0, 0}, {10, 0, 0, 0, 0}};
  expect_refused({}, costs, "do not ascend");
  EXPECT_THROW(torus_links({1, 0, 1}, 0, 0), Error);
}

}  // namespace model_event_simulation_test
}  // namespace nodewise::model
