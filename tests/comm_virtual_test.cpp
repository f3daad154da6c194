// Virtual ranks: what is planned for all of them in one process is what each real rank plans.
#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/virtual_ranks.hpp"

#include "exchange_support.hpp"
#include "support.hpp"
#include "virtual_exchange.hpp"

namespace nodewise::comm {
namespace comm_virtual_test {

using test::Dice;

const Family<RouteMethod>& all_routes = RouteMethod::family();

void expect_equal(const Pattern& got, const Pattern& expected) {
  EXPECT_EQ(got.n_owned, expected.n_owned);
  EXPECT_EQ(got.n_ghosts, expected.n_ghosts);
  EXPECT_EQ(got.recv_ranks, expected.recv_ranks);
  EXPECT_EQ(got.recv_offsets, expected.recv_offsets);
  EXPECT_EQ(got.send_ranks, expected.send_ranks);
  EXPECT_EQ(got.send_offsets, expected.send_offsets);
  EXPECT_EQ(got.send_entries, expected.send_entries);
}

void expect_equal(const Plan& got, const Plan& expected) {
  EXPECT_EQ(got.n_owned, expected.n_owned);
  EXPECT_EQ(got.n_ghosts, expected.n_ghosts);
  EXPECT_EQ(got.ghost_entries, expected.ghost_entries);
  ASSERT_EQ(got.stages.size(), expected.stages.size());
  for (std::size_t s = 0; s < got.stages.size(); ++s) {
    EXPECT_EQ(got.stages[s].send_ranks, expected.stages[s].send_ranks);
    EXPECT_EQ(got.stages[s].send_offsets, expected.stages[s].send_offsets);
    EXPECT_EQ(got.stages[s].send_entries, expected.stages[s].send_entries);
    EXPECT_EQ(got.stages[s].recv_ranks, expected.stages[s].recv_ranks);
    EXPECT_EQ(got.stages[s].recv_offsets, expected.stages[s].recv_offsets);
  }
}

Records<GlobalIndex> ghosts_of_all(const Layout& layout, double density, std::uint64_t seed) {
  Records<GlobalIndex> all;
  for (int r = 0; r < layout.comm().size(); ++r) {
    const auto ghosts = test::ghosts_of(layout, r, density, seed);
    all.data.insert(all.data.end(), ghosts.begin(), ghosts.end());
    all.offsets.push_back(static_cast<Offset>(all.data.size()));
  }
  return all;
}

TEST(VirtualRanks, PatternsAndPlansAreThoseOfTheRealRanks) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto me = static_cast<std::size_t>(comm->rank());
    for (const double density : {0.0, 0.1, 0.7}) {
      const Layout layout = test::random_layout(comm, 60, 8, 1000);
      const Records<GlobalIndex> ghosts = ghosts_of_all(layout, density, 3);
      const Pattern mine = discover_pattern(layout, ghosts[me]);
      const std::vector<Pattern> patterns = virtual_patterns(layout.starts(), ghosts);
      expect_equal(patterns.at(me), mine);
      for (const Route route : all_routes) {
        const Plan plan = make_plan(*comm, mine, route);
        const auto plans = virtual_plans(patterns, comm->topology(), route);
        expect_equal(plans.at(me), plan);
        const Traffic sent = virtual_traffic(plans, comm->topology()).at(me);
        const Traffic expected = traffic(plan, comm->topology(), comm->rank());
        EXPECT_EQ(sent.messages_on_node, expected.messages_on_node);
        EXPECT_EQ(sent.messages_off_node, expected.messages_off_node);
        EXPECT_EQ(sent.entries_on_node, expected.entries_on_node);
        EXPECT_EQ(sent.entries_off_node, expected.entries_off_node);
      }
    }
  }
}

// Each entry carries a record of 0 to 3 items along; messages of no items are not sent.
TEST(VirtualRanks, RecordsAreCountedAsTheyTravel) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    const int n_ranks = 1 + dice.below(20);
    const mpi::Topology topology = test::random_topology(n_ranks, dice);
    const std::vector<Pattern> patterns = test::random_patterns(n_ranks, dice);
    std::vector<Offset> offsets = {0};
    std::vector<std::size_t> first;
    for (const Pattern& pattern : patterns) {
      first.push_back(offsets.size() - 1);
      for (LocalIndex i = 0; i < pattern.n_owned; ++i) {
        offsets.push_back(offsets.back() + (dice.chance(0.5) ? 0 : 1 + dice.below(3)));
      }
    }
    for (const Route route : all_routes) {
      const auto plans = virtual_plans(patterns, topology, route);
      std::vector<Traffic> expected(patterns.size());
      for (const test::Sent& message : test::run_forward(plans).messages) {
        Offset items = 0;
        for (const auto& [owner, entry] : message.entries) {
          const std::size_t i =
              first[static_cast<std::size_t>(owner)] + static_cast<std::size_t>(entry);
          items += offsets[i + 1] - offsets[i];
        }
        if (items == 0) continue;
        Traffic& traffic = expected[static_cast<std::size_t>(message.from)];
        const bool on_node = topology.same_node(message.from, message.to);
        ++(on_node ? traffic.messages_on_node : traffic.messages_off_node);
        (on_node ? traffic.entries_on_node : traffic.entries_off_node) += items;
      }
      const auto got = virtual_record_traffic(plans, topology, offsets);
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t r = 0; r < got.size(); ++r) {
        EXPECT_EQ(got[r].messages_on_node, expected[r].messages_on_node);
        EXPECT_EQ(got[r].messages_off_node, expected[r].messages_off_node);
        EXPECT_EQ(got[r].entries_on_node, expected[r].entries_on_node);
        EXPECT_EQ(got[r].entries_off_node, expected[r].entries_off_node);
      }
    }
  }
}

/// (stage, from, to, entries) of every message.
using Told = std::vector<std::tuple<std::size_t, int, int, std::int64_t>>;

MessageVisitor writer_to(Told& told) {
  return [&told](std::size_t stage, int from, int to, std::int64_t entries) {
    told.emplace_back(stage, from, to, entries);
  };
}

TEST(VirtualRanks, EveryMessageIsToldOnceInTheOrderOfPosting) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    const int n_ranks = 1 + dice.below(12);
    const mpi::Topology topology = test::random_topology(n_ranks, dice);
    const std::vector<Pattern> patterns = test::random_patterns(n_ranks, dice);
    for (const Route route : all_routes) {
      const auto plans = virtual_plans(patterns, topology, route);
      Told forward;
      Told reversed;
      visit_messages(plans, topology, writer_to(forward));
      visit_reversed_messages(plans, topology, writer_to(reversed));
      for (std::size_t m = 1; m < forward.size(); ++m) {
        const auto& [stage, from, to, entries] = forward[m];
        const auto& [stage_before, from_before, to_before, entries_before] = forward[m - 1];
        if (stage != stage_before || from != from_before) continue;
        // To other nodes first; of either, those above the sender, then those below it.
        const auto place = [&, n = n_ranks, sender = from](int receiver) {
          return std::pair(topology.same_node(sender, receiver), (receiver - sender + n) % n);
        };
        EXPECT_LT(place(to_before), place(to));
      }
      const std::size_t n_stages = plans.front().stages.size();
      Told turned;
      for (const auto& [stage, from, to, entries] : reversed) {
        turned.emplace_back(n_stages - 1 - stage, to, from, entries);
      }
      std::sort(turned.begin(), turned.end());
      Told sorted = forward;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(turned, sorted);
      std::vector<std::tuple<int, int, std::int64_t>> got;
      std::vector<std::tuple<int, int, std::int64_t>> expected;
      for (const auto& [stage, from, to, entries] : forward) got.emplace_back(from, to, entries);
      for (const test::Sent& m : test::run_forward(plans).messages) {
        expected.emplace_back(m.from, m.to, std::ssize(m.entries));
      }
      std::sort(got.begin(), got.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(got, expected);
    }
  }
}

TEST(VirtualRanks, WhatCannotBeIsRefused) {
  const std::vector<GlobalIndex> starts = {0, 2, 4};
  const auto code = [&](const std::vector<GlobalIndex>& of_rank_1) {
    Records<GlobalIndex> ghosts;
    ghosts.data = of_rank_1;
    ghosts.offsets = {0, 0, std::ssize(of_rank_1)};
    try {
      virtual_patterns(starts, ghosts);
    } catch (const Error& error) {
      return static_cast<int>(error.code());
    }
    return 0;
  };
  const int invalid = static_cast<int>(ErrorCode::invalid_argument);
  EXPECT_EQ(code({0, 1}), 0);
  EXPECT_EQ(code({1, 0}), invalid);
  EXPECT_EQ(code({1, 1}), invalid);
  EXPECT_EQ(code({3}), invalid);
  EXPECT_EQ(code({4}), invalid);
  EXPECT_EQ(code({-1}), invalid);
  EXPECT_THROW(virtual_patterns({}, {}), Error);
  EXPECT_THROW(virtual_patterns(starts, {}), Error);
  const mpi::Topology three(std::vector<int>{0, 0, 1});
  EXPECT_THROW(virtual_plans(std::vector<Pattern>(2), three, "two_step"), Error);
  std::vector<Plan> plans(1);
  plans.front().n_owned = 2;
  const mpi::Topology one(std::vector<int>{0});
  EXPECT_THROW(virtual_record_traffic(plans, one, std::vector<Offset>{0, 5}), Error);
  EXPECT_THROW(uniform_starts(-1, 2), Error);
  EXPECT_THROW(uniform_starts(3, 0), Error);
}

}  // namespace comm_virtual_test
}  // namespace nodewise::comm
