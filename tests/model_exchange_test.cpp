// The cost of exchanges: by hand for single messages, against a plain sum for planned ones.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/message_cost.hpp"
#include "nodewise/model/overlapped_cost.hpp"

#include "model_support.hpp"

namespace nodewise::model {
namespace model_exchange_test {

using test::round_machine;

mpi::Topology nodes_of_two() {
  return mpi::Topology(std::vector<int>{0, 0, 1, 1});
}

TEST(ExchangeCost, OfMessagesOfEqualLengthIsTheMaxRateModel) {
  const Machine machine = round_machine();
  const mpi::Topology topology(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  for (const int ppn : {1, 2, 3, 4}) {
    ExchangeTally tally(machine, topology);
    for (int r = 0; r < ppn; ++r) tally.add(0, r, r + 4, 32);
    EXPECT_DOUBLE_EQ(tally.total().total(), message_s(machine, Locality::other_node, 32, ppn));
  }
}

TEST(OverlappedStage, HasOneLatencyAndWhicheverIsBusierRankOrCard) {
  Machine machine = round_machine();  // latencies of 1 s, 8 B/s a rank, 16 B/s a node
  const RankLoad::Direction none;
  RankLoad load;
  for (int k = 0; k < 3; ++k) load.sent.add(machine, Locality::other_node, 8);
  load.received.add(machine, Locality::other_node, 16);
  const double latency_s = load.sent.longest_latency_s;
  EXPECT_EQ(overlapped_stage_s(machine, {none, none}, {}, {}, {}), 0);
  // Nothing known of overheads: the latency, and 24 bytes at the rate of a rank.
  EXPECT_EQ(overlapped_stage_s(machine, load, {}, {3, load.sent.injection_s}, {1, 1}),
            latency_s + 3);
  // Three sends, one receive; the overheads of one message are in the latency.
  machine.overheads = MessageOverheads{0, 0, 0.25, 0.125, 0};
  EXPECT_EQ(overlapped_stage_s(machine, load, {}, {3, load.sent.injection_s}, {1, 1}),
            latency_s - 0.375 + 3 * 0.25 + 0.125 + 3);
  // The card, with the messages of other ranks of the node: nine gaps after ten messages.
  machine.overheads->nic_gap_s = 2;
  EXPECT_EQ(overlapped_stage_s(machine, load, {}, {10, 5}, {1, 1}), latency_s - 0.375 + 9 * 2 + 5);
  // A rank that stays on its node does not wait for the card.
  RankLoad inside;
  inside.sent.add(machine, Locality::same_node, 8);
  EXPECT_LT(overlapped_stage_s(machine, inside, {}, {10, 5}, {1, 1}), 9);
}

TEST(ExchangeCost, HasItsTermsByCause) {
  Machine machine = round_machine();
  machine.queue_search_s = 0.5;
  machine.contention_s_per_byte_per_link = 0.25;
  machine.network = Torus{{2}, 1};
  const mpi::Topology topology = nodes_of_two();
  ExchangeCostOptions options;
  options.arrival = Arrival::reversed;
  ExchangeTally tally(machine, topology, options);
  tally.add(0, 0, 2, 24);
  tally.add(0, 0, 3, 8);
  tally.add(0, 0, 1, 64);
  tally.add(0, 1, 3, 64);
  // Rank 3 receives 8 and 64 bytes at 8 B/s; its node 96 at 16 B/s, which is less; two searches.
  const ExchangeCost cost = tally.stage(0);
  EXPECT_EQ(tally.busiest_rank(0), 3);
  EXPECT_EQ(cost.latency_s, 2);
  EXPECT_EQ(cost.bandwidth_s, 72 / 8.0);
  EXPECT_EQ(cost.injection_s, 0);
  EXPECT_EQ(cost.queue_s, 0.5 * 4);
  EXPECT_EQ(cost.contention_s, 0.25 * 1 * 48) << "one hop; 96 bytes from two nodes";
  EXPECT_EQ(cost.total(), 2 + 9 + 2 + 12);
}

TEST(ExchangeCost, GivesTheNodesLimitToThoseWhoSend) {
  const Machine machine = round_machine();
  const mpi::Topology topology(std::vector<int>{0, 0, 0, 0, 1, 2, 3, 4});
  ExchangeTally tally(machine, topology);
  for (int r = 0; r < 4; ++r) tally.add(0, r, 4 + r, 16);
  const ExchangeCost cost = tally.total();
  EXPECT_EQ(cost.bandwidth_s, 2);
  EXPECT_EQ(cost.injection_s, 4 * 16 / 16.0 - 2) << "what is beyond the ranks' own rate";
}

TEST(ExchangeCost, AddsStagesOneAfterTheOther) {
  const Machine machine = round_machine();
  const mpi::Topology topology = nodes_of_two();
  ExchangeTally tally(machine, topology);
  tally.add(2, 0, 2, 8);
  tally.add(0, 2, 3, 32);
  EXPECT_EQ(tally.n_stages(), 3U);
  EXPECT_EQ(tally.stage(0).total(), 0.25 + 1);
  EXPECT_EQ(tally.stage(1).total(), 0);
  EXPECT_EQ(tally.stage(2).total(), 1 + 1);
  EXPECT_EQ(tally.total().total(), 3.25);
  EXPECT_EQ((2.0 * tally.total()).total(), 6.5);
  EXPECT_THROW(tally.add(0, 0, 4, 8), Error);
  EXPECT_THROW(tally.add(0, -1, 0, 8), Error);
  EXPECT_EQ(ExchangeTally(machine, topology).total().total(), 0);
}

TEST(ExchangeCost, TellsSocketsApartWhereTheyAreKnown) {
  Machine machine = round_machine();
  const mpi::Topology flat(std::vector<int>{0, 0, 0, 1});
  EXPECT_EQ(locality(flat, machine, 0, 1), Locality::same_node);
  EXPECT_EQ(locality(flat, machine, 0, 3), Locality::other_node);
  const mpi::Topology divided = flat.with_domains(std::vector<int>{0, 0, 1, 0});
  EXPECT_EQ(locality(divided, machine, 0, 1), Locality::same_socket);
  EXPECT_EQ(locality(divided, machine, 0, 2), Locality::same_node);
  EXPECT_EQ(locality(divided, machine, 0, 3), Locality::other_node) << "equal numbers, other node";
  machine.sockets_per_node = 1;
  EXPECT_EQ(locality(flat, machine, 0, 1), Locality::same_socket);
}

/// The plans of a random exchange among ranks of uneven nodes.
struct Planned {
  mpi::Topology topology;
  std::vector<comm::Plan> plans;
};

Planned random_plans(comm::Route route) {
  constexpr int n_ranks = 12;
  constexpr GlobalIndex rows = 5;
  std::vector<GlobalIndex> starts;
  for (int r = 0; r <= n_ranks; ++r) starts.push_back(rows * r);
  comm::Records<GlobalIndex> ghosts;
  for (int r = 0; r < n_ranks; ++r) {
    for (GlobalIndex i = 0; i < starts.back(); ++i) {
      if (i / rows == r || hash_uniform(hash64(static_cast<std::uint64_t>(i), 7), r) > 0.3)
        continue;
      ghosts.data.push_back(i);
    }
    ghosts.offsets.push_back(static_cast<Offset>(ghosts.data.size()));
  }
  Planned planned;
  planned.topology = mpi::Topology(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3});
  planned.plans =
      comm::virtual_plans(comm::virtual_patterns(starts, ghosts), planned.topology, route);
  return planned;
}

const Family<comm::RouteMethod>& all_routes = comm::RouteMethod::family();

/// Latency and bandwidth of the busiest rank, where nothing else costs anything, written plainly.
double plain_cost(const Planned& planned, const Machine& machine, double bytes_per_entry) {
  double total = 0;
  for (std::size_t s = 0;; ++s) {
    std::map<int, double> sent;
    std::map<int, double> received;
    bool any = false;
    for (int r = 0; r < planned.topology.n_ranks(); ++r) {
      const comm::Plan& plan = planned.plans[static_cast<std::size_t>(r)];
      if (s >= plan.stages.size()) continue;
      any = true;
      const comm::Stage& stage = plan.stages[s];
      for (std::size_t i = 0; i < stage.send_ranks.size(); ++i) {
        const int to = stage.send_ranks[i];
        const double bytes = bytes_per_entry * (stage.send_offsets[i + 1] - stage.send_offsets[i]);
        const double seconds =
            postal_s(machine.parameters(locality(planned.topology, machine, r, to), bytes), bytes);
        sent[r] += seconds;
        received[to] += seconds;
      }
    }
    if (!any) return total;
    double slowest = 0;
    for (const auto& [rank, seconds] : sent) slowest = std::max(slowest, seconds);
    for (const auto& [rank, seconds] : received) slowest = std::max(slowest, seconds);
    total += slowest;
  }
}

TEST(ExchangeCost, OfPlansIsThatOfTheBusiestRankStageByStage) {
  Machine machine = io::shipped_machine("blue-waters");
  machine.queue_search_s = 0;
  machine.contention_s_per_byte_per_link = 0;
  for (auto& set : machine.path(Locality::other_node)) set->injection_bytes_per_s = unlimited;
  for (const comm::Route route : all_routes) {
    const Planned planned = random_plans(route);
    for (const int k : {1, 4, 1000}) {
      ExchangeCostOptions options;
      options.bytes_per_entry = 8.0 * k;
      const double expected = plain_cost(planned, machine, 8.0 * k);
      EXPECT_GT(expected, 0);
      EXPECT_NEAR(forward_cost(planned.plans, planned.topology, machine, options).total(), expected,
                  1e-12 * expected);
      EXPECT_NEAR(reversed_cost(planned.plans, planned.topology, machine, options).total(),
                  expected, 1e-12 * expected)
          << "sending costs what receiving does";
    }
  }
}

TEST(ExchangeCost, OfSeveralValuesAnEntryGrowsInItsBandwidthAlone) {
  const Machine machine = round_machine();
  for (const comm::Route route : all_routes) {
    const Planned planned = random_plans(route);
    ExchangeCostOptions one;
    one.bytes_per_entry = 1e6;  // the same rank is busiest at any k
    ExchangeCostOptions four = one;
    four.bytes_per_entry = 4e6;
    const ExchangeCost a = forward_cost(planned.plans, planned.topology, machine, one);
    const ExchangeCost b = forward_cost(planned.plans, planned.topology, machine, four);
    EXPECT_DOUBLE_EQ(b.latency_s, a.latency_s);
    EXPECT_NEAR(b.bandwidth_s, 4 * a.bandwidth_s, 1e-9 * b.bandwidth_s);
    EXPECT_NEAR(b.injection_s, 4 * a.injection_s, 1e-9 * b.bandwidth_s);
  }
}

TEST(ExchangeCost, OfRecordsIsThatOfTheirLengthsAndTheirItems) {
  const Machine machine = io::shipped_machine("generic-cluster");
  for (const comm::Route route : all_routes) {
    const Planned planned = random_plans(route);
    std::vector<Offset> offsets(61);
    std::iota(offsets.begin(), offsets.end(), 0);  // one item each
    ExchangeCostOptions options;
    options.bytes_per_entry = 16;
    const double lengths = forward_cost(planned.plans, planned.topology, machine).total();
    ExchangeCostOptions both = options;
    both.bytes_per_entry += sizeof(Offset);
    const double with_items = forward_cost(planned.plans, planned.topology, machine, both).total();
    EXPECT_DOUBLE_EQ(
        record_cost(planned.plans, planned.topology, machine, offsets, options).total(),
        with_items);
    std::fill(offsets.begin(), offsets.end(), 0);  // nothing
    EXPECT_DOUBLE_EQ(
        record_cost(planned.plans, planned.topology, machine, offsets, options).total(), lengths);
  }
}

TEST(ExchangeCost, IsTheSameFromEachRanksOwnPlan) {
  const Machine machine = io::shipped_machine("generic-cluster");
  for (const comm::Route route : all_routes) {
    const Planned planned = random_plans(route);
    std::vector<std::vector<RankLoad>> loads;
    for (int r = 0; r < planned.topology.n_ranks(); ++r) {
      loads.push_back(
          rank_loads(planned.plans[static_cast<std::size_t>(r)], planned.topology, r, machine));
    }
    ExchangeTally tally(machine, planned.topology);
    comm::visit_messages(planned.plans, planned.topology,
                         [&](std::size_t s, int from, int to, std::int64_t entries) {
                           tally.add(s, from, to, 8.0 * static_cast<double>(entries));
                         });
    for (std::size_t s = 0; s < tally.n_stages(); ++s) {
      double busiest = 0;
      for (int r = 0; r < planned.topology.n_ranks(); ++r) {
        double out = 0;
        double in = 0;
        for (const int peer : planned.topology.ranks_on(planned.topology.node(r))) {
          if (s >= loads[static_cast<std::size_t>(peer)].size()) continue;
          out += loads[static_cast<std::size_t>(peer)][s].sent.injection_s;
          in += loads[static_cast<std::size_t>(peer)][s].received.injection_s;
        }
        if (s >= loads[static_cast<std::size_t>(r)].size()) continue;
        const ExchangeCost cost =
            stage_cost(machine, loads[static_cast<std::size_t>(r)][s], {}, out, in, usual_arrival);
        busiest = std::max(busiest, cost.total());
      }
      const ExchangeCost stage = tally.stage(s);
      EXPECT_NEAR(busiest, stage.total() - stage.contention_s, 1e-12 * busiest);
    }
  }
}

/// A machine each of whose parameters can be made worse.
std::vector<std::function<void(Machine&)>> ways_to_be_worse() {
  std::vector<std::function<void(Machine&)>> ways;
  for (int l = 0; l < n_localities; ++l) {
    const auto where = static_cast<Locality>(l);
    ways.emplace_back([where](Machine& m) { m.path(where)[2]->latency_s *= 1.5; });
    ways.emplace_back([where](Machine& m) { m.path(where)[2]->rate_bytes_per_s /= 1.5; });
    ways.emplace_back([where](Machine& m) { m.path(where)[2]->injection_bytes_per_s /= 1.5; });
  }
  ways.emplace_back([](Machine& m) { m.queue_search_s *= 1.5; });
  ways.emplace_back([](Machine& m) { m.contention_s_per_byte_per_link *= 1.5; });
  return ways;
}

TEST(ExchangeCost, GrowsWithEveryParameterAndMessage) {
  Machine machine = round_machine();
  machine.queue_search_s = 0.01;
  machine.contention_s_per_byte_per_link = 0.01;
  machine.network = Torus{{2, 2}, 1};
  const Planned planned = random_plans("two_step");
  const auto cost_on = [&](const Machine& m, double bytes, bool one_more) {
    ExchangeTally tally(m, planned.topology);
    comm::visit_messages(planned.plans, planned.topology,
                         [&](std::size_t s, int from, int to, std::int64_t entries) {
                           tally.add(s, from, to, bytes * static_cast<double>(entries));
                         });
    if (one_more) tally.add(0, 0, 4, bytes);
    return tally.total().total();
  };
  const double now = cost_on(machine, 8, false);
  int strictly = 0;
  for (const auto& worsen : ways_to_be_worse()) {
    Machine worse = machine;
    worsen(worse);
    EXPECT_GE(cost_on(worse, 8, false), now);
    if (cost_on(worse, 8, false) > now) ++strictly;
  }
  EXPECT_GE(strictly, 5) << "not all of them are never looked at";
  EXPECT_GT(cost_on(machine, 9, false), now);
  EXPECT_GE(cost_on(machine, 8, true), now);
}

TEST(ExchangeCost, TakesTheHopsThatItIsGiven) {
  Machine machine = io::shipped_machine("blue-waters");
  const mpi::Topology topology = nodes_of_two();
  ExchangeCostOptions options;
  options.average_hops = 2;
  ExchangeTally tally(machine, topology, options);
  tally.add(0, 0, 2, 1000);
  // (3.5): 2 h^3 times the mean of a node, 500 bytes.
  EXPECT_DOUBLE_EQ(tally.total().contention_s, 1e-10 * 2 * 8 * 500);
  ExchangeTally near(machine, topology);
  near.add(0, 0, 2, 1000);
  EXPECT_EQ(near.total().contention_s, 0) << "both nodes are on one router";
}

}  // namespace model_exchange_test
}  // namespace nodewise::model
