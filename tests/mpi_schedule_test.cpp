// The schedules of the node-aware collectives, for virtual ranks and without MPI.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "nodewise/mpi/collectives/schedule.hpp"

#include "virtual_exchange.hpp"

namespace nodewise::mpi::collectives {
namespace mpi_schedule_test {

std::vector<Schedule> schedules(const Topology& topology) {
  std::vector<Schedule> all;
  for (int r = 0; r < topology.n_ranks(); ++r) all.push_back(make_schedule(topology, r));
  return all;
}

/// Numbers of ranks on nodes; consecutive ranks share a node.
Topology blocks(const std::vector<int>& ranks_of_node) {
  std::vector<int> node_of_rank;
  for (std::size_t n = 0; n < ranks_of_node.size(); ++n) {
    node_of_rank.insert(node_of_rank.end(), static_cast<std::size_t>(ranks_of_node[n]),
                        static_cast<int>(n));
  }
  return Topology(node_of_rank);
}

/// Runs the schedules of all ranks with formulas in place of numbers. Ranks of different nodes are
/// at different stages when their nodes have fewer meetings, so everyone goes on as soon as what it
/// waits for has been sent, as with real messages.
class VirtualRun {
 public:
  explicit VirtualRun(const Topology& topology) : all_(schedules(topology)) {
    for (std::size_t r = 0; r < all_.size(); ++r) {
      ranks_.push_back({});
      ranks_.back().value = std::to_string(r);
      enter_stage(r);
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < all_.size(); ++r) {
        while (advance(r)) moved = true;
      }
    }
  }

  /// Whether every rank came to its end and every message was read.
  bool complete() const {
    for (const auto& [key, queue] : in_flight_) {
      if (!queue.empty()) return false;
    }
    for (std::size_t r = 0; r < all_.size(); ++r) {
      if (ranks_[r].stage < all_[r].stages.size()) return false;
    }
    return true;
  }
  const std::string& value(std::size_t rank) const { return ranks_[rank].value; }
  const std::vector<Schedule>& schedules_of_all() const { return all_; }

 private:
  struct State {
    std::string value;
    std::vector<std::string> slots;
    std::size_t stage = 0, round = 0;
    bool sent = false;
  };

  void enter_stage(std::size_t r) {
    State& state = ranks_[r];
    if (state.stage == all_[r].stages.size()) return;
    const Stage& stage = all_[r].stages[state.stage];
    state.slots.assign(stage.slots.size(), "");
    state.slots.at(static_cast<std::size_t>(stage.own)) = state.value;
    state.round = 0;
    state.sent = false;
  }

  bool advance(std::size_t r) {
    State& state = ranks_[r];
    if (state.stage == all_[r].stages.size()) return false;
    const Stage& stage = all_[r].stages[state.stage];
    if (state.round == stage.rounds.size()) {
      state.value = "(";
      for (const std::string& slot : state.slots) state.value += slot + " ";
      state.value.back() = ')';
      ++state.stage;
      enter_stage(r);
      return true;
    }
    const Round& round = stage.rounds[state.round];
    if (!state.sent) {
      for (const Message& message : round.sends) {
        std::vector<std::string> contents;
        for (const int s : message.slots) contents.push_back(state.slots.at(index(s)));
        in_flight_[{static_cast<int>(r), message.rank}].push_back(contents);
      }
      state.sent = true;
      return true;
    }
    for (const Message& message : round.recvs) {
      const auto& queue = in_flight_[{message.rank, static_cast<int>(r)}];
      if (queue.empty() || queue.front().size() != message.slots.size()) return false;
    }
    for (const Message& message : round.recvs) {
      auto& queue = in_flight_[{message.rank, static_cast<int>(r)}];
      for (std::size_t k = 0; k < message.slots.size(); ++k) {
        state.slots.at(index(message.slots[k])) = queue.front()[k];
      }
      queue.erase(queue.begin());
    }
    ++state.round;
    state.sent = false;
    return true;
  }

  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }

  std::vector<Schedule> all_;
  std::vector<State> ranks_;
  std::map<std::pair<int, int>, std::vector<std::vector<std::string>>> in_flight_;
};

/// Every rank ends with the same formula, in which every rank stands once.
void expect_everything_once(const Topology& topology) {
  const VirtualRun run(topology);
  ASSERT_TRUE(run.complete());
  std::multiset<int> ranks;
  std::string number;
  for (const char c : run.value(0) + " ") {
    if (c >= '0' && c <= '9') {
      number += c;
    } else if (!number.empty()) {
      ranks.insert(std::stoi(number));
      number.clear();
    }
  }
  ASSERT_EQ(ranks.size(), static_cast<std::size_t>(topology.n_ranks()));
  ASSERT_EQ(std::set<int>(ranks.begin(), ranks.end()).size(), ranks.size());
  for (int r = 0; r < topology.n_ranks(); ++r) {
    ASSERT_EQ(run.value(static_cast<std::size_t>(r)), run.value(0)) << "rank " << r;
  }
}

/// In each meeting every node gets one message from one node of each other group, and no two
/// messages of a node go to the same node. What is known is never sent to a node that knows it.
void expect_node_awareness(const Topology& topology) {
  const std::vector<Schedule> all = schedules(topology);
  for (int node = 0; node < topology.n_nodes(); ++node) {
    const auto here = topology.ranks_on(node);
    const std::size_t n_stages = all[static_cast<std::size_t>(here.front())].stages.size();
    std::int64_t received_ranks = std::ssize(here);
    for (std::size_t s = 0; s < n_stages; ++s) {
      std::vector<int> to, from;
      for (const int r : here) {
        const Stage& stage = all[static_cast<std::size_t>(r)].stages.at(s);
        for (std::size_t k = 0; k < stage.rounds.size(); ++k) {
          for (const Message& m : stage.rounds[k].sends) {
            if (topology.same_node(m.rank, r)) continue;
            ASSERT_EQ(k, 0U);
            ASSERT_EQ(m.slots, std::vector<int>{stage.own});
            to.push_back(topology.node(m.rank));
          }
          for (const Message& m : stage.rounds[k].recvs) {
            if (topology.same_node(m.rank, r)) continue;
            from.push_back(topology.node(m.rank));
            const Span span = stage.slots.at(static_cast<std::size_t>(m.slots.at(0)));
            received_ranks += span.end - span.begin;
          }
        }
      }
      ASSERT_EQ(std::set<int>(to.begin(), to.end()).size(), to.size());
      ASSERT_EQ(std::set<int>(from.begin(), from.end()).size(), from.size());
      const Stage& stage = all[static_cast<std::size_t>(here.front())].stages[s];
      ASSERT_EQ(from.size(), s == 0 ? 0 : stage.slots.size() - 1);
    }
    ASSERT_EQ(received_ranks, topology.n_ranks());  // each node's ranks once, from one of them
  }
}

TEST(Schedule, BringsEveryRankToEveryRankOnceInTheSameOrder) {
  test::Dice dice(3);
  for (int k = 0; k < 300; ++k) {
    const Topology topology = test::random_topology(1 + dice.below(40), dice);
    SCOPED_TRACE(k);
    ASSERT_NO_FATAL_FAILURE(expect_everything_once(topology));
    ASSERT_NO_FATAL_FAILURE(expect_node_awareness(topology));
  }
}

TEST(Schedule, AnyNumberOfNodesWithAnyNumberOfRanks) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    for (int nodes = 1; nodes <= 40; ++nodes) {
      SCOPED_TRACE(std::to_string(nodes) + " nodes of " + std::to_string(ranks));
      const Topology topology = blocks(std::vector<int>(static_cast<std::size_t>(nodes), ranks));
      ASSERT_NO_FATAL_FAILURE(expect_everything_once(topology));
      ASSERT_NO_FATAL_FAILURE(expect_node_awareness(topology));
    }
  }
}

MessageCounts busiest(const Topology& topology) {
  MessageCounts most;
  for (int r = 0; r < topology.n_ranks(); ++r) {
    const MessageCounts c = count_messages(make_schedule(topology, r), topology, r);
    most.off_node = std::max(most.off_node, c.off_node);
    most.on_node = std::max(most.on_node, c.on_node);
    most.stages_off_node = std::max(most.stages_off_node, c.stages_off_node);
  }
  return most;
}

// (w + 1)^s nodes of w ranks: s messages between nodes for every rank, not one idle.
TEST(Schedule, FullGroupsNeedOneMessageAStage) {
  const std::vector<std::vector<int>> cases = {{1, 8, 3},  {1, 16, 4}, {2, 9, 2},  {2, 27, 3},
                                               {3, 16, 2}, {4, 5, 1},  {4, 25, 2}, {7, 64, 2}};
  for (const auto& c : cases) {
    const Topology topology = blocks(std::vector<int>(static_cast<std::size_t>(c[1]), c[0]));
    for (int r = 0; r < topology.n_ranks(); ++r) {
      const MessageCounts counts = count_messages(make_schedule(topology, r), topology, r);
      ASSERT_EQ(counts.off_node, c[2]) << c[0] << " ranks on " << c[1] << " nodes, rank " << r;
      ASSERT_EQ(counts.stages_off_node, c[2]);
    }
  }
}

int log2_rounded_up(int n) {
  int result = 0;
  while ((1 << result) < n) ++result;
  return result;
}

// Never more between nodes than recursive doubling, in which each rank sends log2(nodes).
TEST(Schedule, NeverMoreStagesThanDoubling) {
  for (int ranks = 1; ranks <= 6; ++ranks) {
    for (int nodes = 2; nodes <= 70; ++nodes) {
      const Topology topology = blocks(std::vector<int>(static_cast<std::size_t>(nodes), ranks));
      const Schedule schedule = make_schedule(topology, 0);
      ASSERT_LE(schedule.stages.size() - 1, static_cast<std::size_t>(log2_rounded_up(nodes)));
      // One more than the least where groups differ in size.
      ASSERT_LE(busiest(topology).off_node, 2 * log2_rounded_up(nodes));
    }
  }
}

TEST(Schedule, ManyNodesWithUnevenRanks) {
  test::Dice dice(11);
  std::vector<int> sizes;
  for (int n = 0; n < 100; ++n) sizes.push_back(3 + dice.below(6));
  const Topology topology = blocks(sizes);
  ASSERT_NO_FATAL_FAILURE(expect_everything_once(topology));
  ASSERT_NO_FATAL_FAILURE(expect_node_awareness(topology));
}

TEST(Schedule, OfOneRankIsEmpty) {
  const Schedule schedule = make_schedule(blocks({1}), 0);
  ASSERT_EQ(schedule.stages.size(), 1U);
  EXPECT_TRUE(schedule.stages[0].rounds.empty());
}

// Memory does not grow with the number of ranks: 4096 nodes of 16.
TEST(Schedule, OfManyRanksIsShort) {
  const Topology topology = blocks(std::vector<int>(4096, 16));
  const Schedule schedule = make_schedule(topology, 12345);
  std::size_t slots = 0;
  for (const Stage& stage : schedule.stages) slots += stage.slots.size();
  EXPECT_EQ(schedule.stages.size(), 4U);  // the node's, and 16^3 nodes in three
  EXPECT_EQ(slots, 16U + 3 * 16);
  EXPECT_LE(count_messages(schedule, topology, 12345).off_node, 3);
}

}  // namespace mpi_schedule_test
}  // namespace nodewise::mpi::collectives
