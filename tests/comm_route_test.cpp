// Node-aware routes: their properties for hundreds of random patterns and placements, planned for
// virtual ranks in one process, and the worked example of the paper.
#include <gtest/gtest.h>

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/three_step.hpp"
#include "nodewise/comm/route/two_step.hpp"

#include "route_properties.hpp"
#include "virtual_exchange.hpp"

namespace nodewise::comm::route {
namespace {

using mpi::Topology;
using test::across;
using test::Dice;
using test::Entry;
using test::expect_balanced;
using test::expect_sound;
using test::n_entries;
using test::plan_all;
using test::run_forward;
using test::Sent;
using test::VirtualRun;

std::vector<Plan> plan_direct(const std::vector<Pattern>& patterns) {
  std::vector<Plan> plans;
  for (const Pattern& pattern : patterns) plans.push_back(direct(pattern));
  return plans;
}

std::vector<Plan> plan_two_step(const std::vector<Pattern>& patterns, const Topology& topology) {
  return plan_all(patterns,
                  [&](const Pattern& p, int rank) { return two_step(p, topology, rank); });
}

std::vector<Plan> plan_three_step(const std::vector<Pattern>& patterns, const Topology& topology,
                                  const NodeMapping& mapping = map_by_size) {
  return plan_all(
      patterns, [&](const Pattern& p, int rank) { return three_step(p, topology, rank, mapping); });
}

std::map<std::pair<int, int>, std::vector<Sent>> by_node_pair(const std::vector<Sent>& messages,
                                                              const Topology& topology) {
  std::map<std::pair<int, int>, std::vector<Sent>> pairs;
  for (const Sent& m : messages) {
    pairs[{topology.node(m.from), topology.node(m.to)}].push_back(m);
  }
  return pairs;
}

template <class Check>
void for_random_cases(const Check& check) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    const int n_ranks = 1 + dice.below(24);
    const Topology topology = test::random_topology(n_ranks, dice);
    const std::vector<Pattern> patterns = test::random_patterns(n_ranks, dice);
    check(patterns, topology);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(TwoStep, RandomPatternsAndTopologies) {
  for_random_cases([](const std::vector<Pattern>& patterns, const Topology& topology) {
    const VirtualRun run = run_forward(plan_two_step(patterns, topology));
    expect_sound(run, run_forward(plan_direct(patterns)), topology);
    std::set<std::pair<int, int>> sent;  // by rank, to a node
    for (const Sent& m : across(run, topology)) {
      EXPECT_EQ(m.stage, 0U);
      EXPECT_TRUE(sent.emplace(m.from, topology.node(m.to)).second);
    }
  });
}

TEST(ThreeStep, RandomPatternsAndTopologies) {
  for_random_cases([](const std::vector<Pattern>& patterns, const Topology& topology) {
    const VirtualRun run = run_forward(plan_three_step(patterns, topology));
    const VirtualRun reference = run_forward(plan_direct(patterns));
    expect_sound(run, reference, topology);
    const auto direct_pairs = by_node_pair(across(reference, topology), topology);
    const std::vector<Sent> crossing = across(run, topology);
    const auto pairs = by_node_pair(crossing, topology);
    for (const auto& [nodes, messages] : pairs) {
      std::size_t partners_out = 0;
      std::size_t partners_in = 0;
      for (const auto& pair : pairs) {
        partners_out += pair.first.first == nodes.first ? 1 : 0;
        partners_in += pair.first.second == nodes.second ? 1 : 0;
      }
      const auto share = [](std::size_t ranks, std::size_t partners) {
        return std::max<std::size_t>(1, ranks / partners);
      };
      std::size_t entries = n_entries(messages);
      EXPECT_EQ(messages.size(),
                std::min({share(topology.ranks_on(nodes.first).size(), partners_out),
                          share(topology.ranks_on(nodes.second).size(), partners_in), entries,
                          direct_pairs.at(nodes).size()}));
      for (const Sent& m : messages) {
        EXPECT_EQ(m.stage, 1U);
        // Parts of a pair are equal up to one entry.
        EXPECT_GE((m.entries.size() + 1) * messages.size(), entries);
        EXPECT_LE((m.entries.size() - 1) * messages.size(), entries);
      }
    }
    expect_balanced(crossing, topology, true);
    expect_balanced(crossing, topology, false);
  });
}

// With everything on one node nothing is passed on.
TEST(Routes, OneNodeSendsStraight) {
  Dice dice(5);
  const std::vector<Pattern> patterns = test::random_patterns(9, dice);
  const Topology topology(std::vector<int>(9, 0));
  const VirtualRun reference = run_forward(plan_direct(patterns));
  for (const auto& plans :
       {plan_two_step(patterns, topology), plan_three_step(patterns, topology)}) {
    const VirtualRun run = run_forward(plans);
    expect_sound(run, reference, topology);
    ASSERT_EQ(run.messages.size(), reference.messages.size());
    for (const Sent& m : run.messages) EXPECT_EQ(m.stage, 0U);
  }
}

TEST(MapBySize, LargestFirstForwardAndBackward) {
  const std::vector<PartnerNode> partners = {{1, 5}, {2, 9}, {4, 5}, {7, 1}, {8, 3}};
  using Places = std::vector<std::vector<int>>;
  EXPECT_EQ(map_by_size(0, partners, 3, Direction::send), (Places{{1}, {0}, {2}, {1}, {0}}));
  EXPECT_EQ(map_by_size(0, partners, 3, Direction::receive), (Places{{1}, {2}, {0}, {1}, {2}}));
  EXPECT_EQ(map_by_size(0, std::span(partners).first(2), 5, Direction::send),
            (Places{{2, 3}, {0, 1}}));
  EXPECT_EQ(map_by_size(0, std::span(partners).first(1), 3, Direction::receive),
            (Places{{2, 1, 0}}));
  EXPECT_EQ(map_by_size(0, {}, 3, Direction::send), Places{});
}

// Example 5.1 of Bienz 2018: six ranks with a row each, on three nodes. Its mapping (table 5.7) is
// not the one the text describes, and so is given.
class PaperExample : public testing::Test {
 protected:
  static NodeMapping mapping() {
    return [](int node, std::span<const PartnerNode> partners, int, Direction direction) {
      // place[direction][node][partner]
      static const std::map<std::pair<int, int>, int> send = {
          {{0, 1}, 0}, {{0, 2}, 1}, {{1, 0}, 0}, {{1, 2}, 1}, {{2, 0}, 0}};
      static const std::map<std::pair<int, int>, int> receive = {
          {{0, 2}, 0}, {{0, 1}, 1}, {{1, 0}, 1}, {{2, 1}, 0}, {{2, 0}, 1}};
      std::vector<std::vector<int>> places;
      for (const PartnerNode& partner : partners) {
        places.push_back(
            {(direction == Direction::send ? send : receive).at({node, partner.node})});
      }
      return places;
    };
  }

  /// The global indices (rank r owns index r) that travel in a stage, by sender and receiver.
  using Table = std::map<std::pair<int, int>, std::set<int>>;
  static Table table(const VirtualRun& run, std::size_t stage) {
    Table t;
    for (const Sent& m : run.messages) {
      if (m.stage != stage) continue;
      for (const Entry& entry : m.entries) t[{m.from, m.to}].insert(entry.first);
    }
    return t;
  }

  // Tables 5.1 and 5.2: which ranks need each rank's entry.
  std::vector<Pattern> patterns_ = test::patterns_of({1, 1, 1, 1, 1, 1}, {{{0, 3}, {0}},
                                                                          {{0, 4}, {0}},
                                                                          {{0, 5}, {0}},
                                                                          {{1, 0}, {0}},
                                                                          {{1, 3}, {0}},
                                                                          {{2, 3}, {0}},
                                                                          {{2, 4}, {0}},
                                                                          {{3, 0}, {0}},
                                                                          {{3, 2}, {0}},
                                                                          {{4, 1}, {0}},
                                                                          {{5, 0}, {0}}});
  Topology topology_{std::vector<int>{0, 0, 1, 1, 2, 2}};
};

TEST_F(PaperExample, ThreeStepMeetsTheTables) {
  const VirtualRun run = run_forward(plan_three_step(patterns_, topology_, mapping()));
  expect_sound(run, run_forward(plan_direct(patterns_)), topology_);
  // Tables 5.11 and 5.15 together: 1 is needed by rank 0 both for itself and to pass it on.
  EXPECT_EQ(table(run, 0),
            (Table{{{0, 1}, {0}}, {{2, 3}, {2}}, {{3, 2}, {3}}, {{5, 4}, {5}}, {{1, 0}, {1}}}));
  // Tables 5.6 and 5.8. Table 5.9 has what ranks 0 and 1 send the wrong way round.
  EXPECT_EQ(
      table(run, 1),
      (Table{{{0, 3}, {0, 1}}, {{1, 5}, {0}}, {{2, 1}, {3}}, {{3, 4}, {2}}, {{4, 0}, {4, 5}}}));
  // Table 5.13 follows from 5.9 and lacks 4, which rank 1 needs by table 5.2.
  EXPECT_EQ(table(run, 2), (Table{{{5, 4}, {0}}, {{1, 0}, {3}}, {{0, 1}, {4}}}));
}

TEST_F(PaperExample, TwoStepSendsOnceToEachNode) {
  const VirtualRun run = run_forward(plan_two_step(patterns_, topology_));
  expect_sound(run, run_forward(plan_direct(patterns_)), topology_);
  EXPECT_EQ(table(run, 0), (Table{{{0, 2}, {0}},
                                  {{0, 4}, {0}},
                                  {{1, 3}, {1}},
                                  {{1, 0}, {1}},
                                  {{2, 4}, {2}},
                                  {{2, 3}, {2}},
                                  {{3, 1}, {3}},
                                  {{3, 2}, {3}},
                                  {{4, 0}, {4}},
                                  {{5, 1}, {5}}}));
  EXPECT_EQ(table(run, 1), (Table{{{2, 3}, {0}}, {{4, 5}, {0}}, {{1, 0}, {3, 5}}, {{0, 1}, {4}}}));
}

}  // namespace
}  // namespace nodewise::comm::route
