// Node-aware routes: their properties for hundreds of random patterns and placements, planned for
// virtual ranks in one process, and the worked example of the paper.
#include <gtest/gtest.h>

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/comm/route/three_step.hpp"
#include "nodewise/comm/route/two_step.hpp"

#include "route_properties.hpp"
#include "virtual_exchange.hpp"

namespace nodewise::comm::route {
namespace comm_route_test {

using mpi::Topology;
using test::across;
using test::Dice;
using test::expect_balanced;
using test::expect_sound;
using test::n_entries;
using test::plan_all;
using test::run_forward;
using test::Sent;
using test::SentEntry;
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

/// What every rank foresees of its direct plan.
std::vector<MessageEstimate> forecasts_of(const std::vector<Plan>& direct, const Topology& topology,
                                          const NodeMapping& mapping = map_by_size) {
  std::vector<MessageEstimate> forecasts;
  for (int r = 0; r < topology.n_ranks(); ++r) {
    std::vector<std::int64_t> facts;
    for (const int other : topology.ranks_on(topology.node(r))) {
      const auto words =
          MessageEstimate::facts(direct[static_cast<std::size_t>(other)], topology, other);
      facts.insert(facts.end(), words.begin(), words.end());
    }
    forecasts.emplace_back(direct[static_cast<std::size_t>(r)], topology, r, facts, mapping);
  }
  return forecasts;
}

std::vector<int> ranks_of(const std::vector<MessageSize>& messages) {
  std::vector<int> ranks;
  for (const MessageSize& m : messages) ranks.push_back(m.rank);
  return ranks;
}

TEST(MessageEstimate, TellsTheMessagesOfTwoStep) {
  for_random_cases([](const std::vector<Pattern>& patterns, const Topology& topology) {
    if (topology.n_nodes() == 1) return;  // all routes are direct
    const std::vector<Plan> direct = plan_direct(patterns);
    const std::vector<Plan> plans = plan_two_step(patterns, topology);
    const std::vector<MessageEstimate> forecasts = forecasts_of(direct, topology);
    for (std::size_t r = 0; r < plans.size(); ++r) {
      const auto said = forecasts[r].sizes("two_step");
      const auto real = sizes_of(plans[r]);
      EXPECT_EQ(forecasts[r].sizes("direct").front().sent, sizes_of(direct[r]).front().sent);
      for (std::size_t s = 0; s < real.size(); ++s) {
        EXPECT_EQ(said[s].sent, real[s].sent);
        ASSERT_EQ(ranks_of(said[s].received), ranks_of(real[s].received));
        for (std::size_t m = 0; m < real[s].received.size(); ++m) {
          EXPECT_LE(said[s].received[m].entries, real[s].received[m].entries);
        }
      }
    }
  });
}

/// How many entries a rank sends to which node in a stage.
std::map<int, std::int64_t> entries_to_nodes(const StageSizes& stage, const Topology& topology) {
  std::map<int, std::int64_t> entries;
  for (const MessageSize& m : stage.sent) entries[topology.node(m.rank)] += m.entries;
  return entries;
}

/// Whether all nodes that a node sends to have as many ranks for it as it has for them.
bool others_share(const std::vector<std::vector<StageSizes>>& real, const Topology& topology,
                  int node) {
  std::set<std::pair<int, int>> pairs;
  for (int r = 0; r < topology.n_ranks(); ++r) {
    for (const auto& to : entries_to_nodes(real[static_cast<std::size_t>(r)][1], topology)) {
      pairs.emplace(topology.node(r), to.first);
    }
  }
  const auto ranks_for_each = [&](int n, bool out) {
    const auto partners = std::count_if(pairs.begin(), pairs.end(), [&](const auto& pair) {
      return (out ? pair.first : pair.second) == n;
    });
    return std::max<std::ptrdiff_t>(1, std::ssize(topology.ranks_on(n)) / partners);
  };
  return std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
    return pair.first != node || ranks_for_each(node, true) <= ranks_for_each(pair.second, false);
  });
}

// One rank on either side handles a pair: nothing about it is guessed.
TEST(MessageEstimate, TellsWhatOwnersSendBetweenNodes) {
  for_random_cases([&](const std::vector<Pattern>& patterns, const Topology& topology) {
    if (topology.n_nodes() == 1) return;
    const std::vector<Plan> direct = plan_direct(patterns);
    const std::vector<MessageEstimate> forecasts = forecasts_of(direct, topology, map_to_owner);
    const std::vector<Plan> plans = plan_three_step(patterns, topology, map_to_owner);
    for (std::size_t r = 0; r < plans.size(); ++r) {
      EXPECT_EQ(entries_to_nodes(forecasts[r].sizes("three_step")[1], topology),
                entries_to_nodes(sizes_of(plans[r])[1], topology));
    }
  });
}

TEST(MessageEstimate, TellsWhatThreeStepSendsBetweenNodes) {
  int n_exact = 0, n_bounds = 0;
  for_random_cases([&](const std::vector<Pattern>& patterns, const Topology& topology) {
    if (topology.n_nodes() == 1) return;
    const std::vector<Plan> direct = plan_direct(patterns);
    const std::vector<MessageEstimate> forecasts = forecasts_of(direct, topology);
    std::vector<std::vector<StageSizes>> real, said;
    for (const Plan& plan : plan_three_step(patterns, topology)) real.push_back(sizes_of(plan));
    for (const MessageEstimate& f : forecasts) said.push_back(f.sizes("three_step"));
    for (int node = 0; node < topology.n_nodes(); ++node) {
      std::map<int, std::int64_t> all_said, all_real;
      const bool exact = others_share(real, topology, node);
      (exact ? n_exact : n_bounds) += 1;
      for (const int rank : topology.ranks_on(node)) {
        const auto r = static_cast<std::size_t>(rank);
        ASSERT_EQ(said[r].size(), 3U);
        const auto across_said = entries_to_nodes(said[r][1], topology);
        const auto across_real = entries_to_nodes(real[r][1], topology);
        for (const auto& [to, n] : across_said) all_said[to] += n;
        for (const auto& [to, n] : across_real) all_real[to] += n;
        EXPECT_LE(real[r][1].sent.size(), said[r][1].sent.size());
        if (!exact) continue;
        EXPECT_EQ(across_said, across_real);
        ASSERT_EQ(ranks_of(said[r][0].sent), ranks_of(real[r][0].sent));
        EXPECT_EQ(ranks_of(said[r][0].received), ranks_of(real[r][0].received));
        for (std::size_t m = 0; m < real[r][0].sent.size(); ++m) {
          EXPECT_GE(said[r][0].sent[m].entries, real[r][0].sent[m].entries);
        }
      }
      EXPECT_EQ(all_said, all_real);
    }
  });
  EXPECT_GT(n_exact, 1000);
  EXPECT_GT(n_bounds, 50);
}

// What one rank spreads on its node is what others there await, and no less than is needed.
TEST(MessageEstimate, TellsHowThreeStepSpreads) {
  for_random_cases([](const std::vector<Pattern>& patterns, const Topology& topology) {
    if (topology.n_nodes() == 1) return;
    const std::vector<Plan> direct = plan_direct(patterns);
    const std::vector<MessageEstimate> forecasts = forecasts_of(direct, topology);
    std::map<std::pair<int, int>, std::int64_t> sent, received;
    for (int r = 0; r < topology.n_ranks(); ++r) {
      const auto stage = forecasts[static_cast<std::size_t>(r)].sizes("three_step").at(2);
      for (const MessageSize& m : stage.sent) sent[{r, m.rank}] = m.entries;
      for (const MessageSize& m : stage.received) received[{m.rank, r}] = m.entries;
    }
    EXPECT_EQ(sent, received);
    for (const auto& [ranks, entries] : sent) {
      EXPECT_TRUE(topology.same_node(ranks.first, ranks.second));
      EXPECT_GT(entries, 0);
    }
    for (int r = 0; r < topology.n_ranks(); ++r) {
      // One rank of the node may have brought everything in for itself.
      std::int64_t needed = 0, spread = 0;
      const StageSizes straight = sizes_of(direct[static_cast<std::size_t>(r)]).front();
      for (const MessageSize& m : straight.received) {
        if (!topology.same_node(r, m.rank)) needed += m.entries;
      }
      for (const auto& [ranks, entries] : received) {
        if (ranks.second == r) spread += entries;
      }
      const StageSizes cross = forecasts[static_cast<std::size_t>(r)].sizes("three_step").at(1);
      if (cross.received.empty()) {
        EXPECT_GE(spread, needed);
      }
    }
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

TEST(MapToOwner, MostOfTheEntriesThenFewestPartners) {
  using Places = std::vector<std::vector<int>>;
  const std::vector<PartnerNode> partners = {{1, 5, {{0, 4}, {2, 3}}},
                                             {2, 9, {{0, 5}, {1, 5}}},
                                             {4, 4, {{0, 2}, {1, 2}}},
                                             {7, 1, {{2, 1}}}};
  for (const Direction direction : {Direction::send, Direction::receive}) {
    EXPECT_EQ(map_to_owner(0, partners, 3, direction), (Places{{0}, {0}, {1}, {2}}));
  }
}

TEST(MapSplit, LongMessagesGetSeveralRanks) {
  using Places = std::vector<std::vector<int>>;
  const std::vector<PartnerNode> partners = {{1, 10}, {2, 30}, {3, 1}};
  EXPECT_EQ(map_split(10)(0, partners, 4, Direction::send), (Places{{3}, {0, 1, 2}, {0}}));
  EXPECT_EQ(map_split(1)(0, partners, 2, Direction::receive), (Places{{1, 0}, {1, 0}, {1}}));
  EXPECT_EQ(map_split(100)(0, partners, 3, Direction::send),
            map_by_size(0, partners, 3, Direction::send));
  EXPECT_EQ(map_split(100)(0, std::span(partners).first(1), 3, Direction::send),
            (Places{{0, 1, 2}}));
}

/// All mappings of the family, and split with short messages.
std::vector<Choice<mpi::NodeMappingMethod>> all_mappings() {
  std::vector<Choice<mpi::NodeMappingMethod>> mappings;
  for (const mpi::NodeMappingMethod& method : mpi::NodeMappingMethod::family()) {
    mappings.emplace_back(method);
  }
  mpi::CommSettings settings;
  set_option(settings, mpi::all_setting_fields(), "node_mapping", "split");
  set_option(settings, mpi::all_setting_fields(), "split_entries", "2");
  mappings.push_back(settings.node_mapping);
  return mappings;
}

// By every mapping the same ghosts come, and the same entries cross between the same nodes.
TEST(NodeMapping, MovesNothingElseBetweenNodes) {
  for_random_cases([](const std::vector<Pattern>& patterns, const Topology& topology) {
    const auto entries_of_pairs = [&](const VirtualRun& run) {
      std::map<std::pair<int, int>, std::multiset<SentEntry>> entries;
      for (const auto& [nodes, messages] : by_node_pair(across(run, topology), topology)) {
        for (const Sent& m : messages) {
          entries[nodes].insert(m.entries.begin(), m.entries.end());
        }
      }
      return entries;
    };
    const VirtualRun reference = run_forward(plan_direct(patterns));
    const auto by_size = entries_of_pairs(run_forward(plan_three_step(patterns, topology)));
    for (const auto& mapping : all_mappings()) {
      const VirtualRun run =
          run_forward(plan_three_step(patterns, topology, mapping->make(mapping)));
      expect_sound(run, reference, topology);
      EXPECT_EQ(entries_of_pairs(run), by_size) << mapping.name();
    }
  });
}

// Two nodes of four; the rank at place r has r + 1 entries for that at place r + 1, all round.
TEST(NodeMapping, GivesEachRankItsMessages) {
  test::Sends sends;
  for (int r = 0; r < 4; ++r) {
    for (int k = 0; k <= r; ++k) sends[{r, 4 + (r + 1) % 4}].push_back(k);
  }
  const std::vector<Pattern> patterns = test::patterns_of(std::vector<LocalIndex>(8, 4), sends);
  const Topology topology(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  using Messages = std::map<std::pair<int, int>, std::size_t>;  // entries, by sender and receiver
  const auto across_by = [&](const NodeMapping& mapping) {
    Messages messages;
    for (const Sent& m :
         across(run_forward(plan_three_step(patterns, topology, mapping)), topology)) {
      messages[{m.from, m.to}] += m.entries.size();
    }
    return messages;
  };
  EXPECT_EQ(across_by(map_by_size), (Messages{{{0, 7}, 3}, {{1, 6}, 2}, {{2, 5}, 3}, {{3, 4}, 2}}));
  // All ranks take part already where partners are few.
  EXPECT_EQ(across_by(map_split(1)), across_by(map_by_size));
  EXPECT_EQ(across_by(map_to_owner), (Messages{{{3, 4}, 10}}));
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
      for (const SentEntry& entry : m.entries) t[{m.from, m.to}].insert(entry.first);
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

}  // namespace comm_route_test
}  // namespace nodewise::comm::route
