// Routes over domains inside nodes: their properties for hundreds of random patterns and
// placements, planned for virtual ranks in one process.
#include <gtest/gtest.h>

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/route/splice.hpp"

#include "route_properties.hpp"
#include "virtual_exchange.hpp"

namespace nodewise::comm::route {
namespace comm_domain_route_test {

using mpi::Topology;
using test::across;
using test::Dice;
using test::n_entries;
using test::run_forward;
using test::Sent;
using test::SentEntry;
using test::VirtualRun;

std::vector<Plan> plan_all(Route route, const std::vector<Pattern>& patterns,
                           const Topology& topology) {
  return test::plan_all(patterns, [&](const Pattern& pattern, int rank) {
    return make_planner(route, pattern, topology, rank);
  });
}

/// The messages between two domains of one node.
std::vector<Sent> between_domains(const VirtualRun& run, const Topology& topology) {
  std::vector<Sent> messages;
  for (const Sent& m : run.messages) {
    if (topology.same_node(m.from, m.to) && !topology.same_domain(m.from, m.to)) {
      messages.push_back(m);
    }
  }
  return messages;
}

/// One case: the same patterns planned with and without the domains.
struct Case {
  Case(Route r, std::uint64_t seed) : route(r) {
    Dice dice(seed);
    const int n_ranks = 1 + dice.below(32);
    nodes = test::random_topology(n_ranks, dice);
    if (dice.chance(0.15)) nodes = Topology(std::vector<int>(static_cast<std::size_t>(n_ranks), 0));
    topology = test::random_domains(nodes, dice);
    patterns = test::random_patterns(n_ranks, dice);
    reference = run_forward(plan_all("direct", patterns, topology));
    without = run_forward(plan_all(route, patterns, nodes));
    run = run_forward(plan_all(route, patterns, topology));
  }

  Route route;
  Topology nodes, topology;
  std::vector<Pattern> patterns;
  VirtualRun reference, without, run;
};

// The messages between nodes are those of the plan without domains.
void expect_same_between_nodes(const Case& c) {
  const std::vector<Sent> with = across(c.run, c.topology);
  const std::vector<Sent> without = across(c.without, c.topology);
  ASSERT_EQ(with.size(), without.size());
  for (std::size_t m = 0; m < with.size(); ++m) {
    EXPECT_EQ(with[m].from, without[m].from);
    EXPECT_EQ(with[m].to, without[m].to);
    EXPECT_EQ(with[m].entries, without[m].entries);
  }
}

// An entry comes to a node once, and there to each domain once.
void expect_nothing_enters_a_domain_twice(const Case& c) {
  const Topology& domains = c.topology.domains();
  std::set<std::pair<SentEntry, int>> entered;
  for (const Sent& m : between_domains(c.run, c.topology)) {
    for (const SentEntry& entry : m.entries) {
      EXPECT_TRUE(entered.emplace(entry, domains.node(m.to)).second)
          << "entry " << entry.second << " of rank " << entry.first;
    }
  }
  // Only where it is needed, or is handed on to another node: where it comes to without domains.
  std::set<std::pair<SentEntry, int>> before;
  for (const Sent& m : between_domains(c.without, c.topology)) {
    for (const SentEntry& entry : m.entries) before.emplace(entry, domains.node(m.to));
  }
  EXPECT_EQ(entered, before);
}

// Between domains there are never more messages than without this level, nor more than one of a
// rank to a domain (two_step); and the ranks of a domain share them (three_step).
void expect_few_and_shared(const Case& c) {
  const std::vector<Sent> messages = between_domains(c.run, c.topology);
  EXPECT_LE(messages.size(), between_domains(c.without, c.topology).size());
  const Topology& domains = c.topology.domains();
  std::map<std::size_t, std::vector<Sent>> by_stage;
  std::set<std::tuple<std::size_t, int, int>> sent;
  for (const Sent& m : messages) {
    by_stage[m.stage].push_back(m);
    const bool first = sent.emplace(m.stage, m.from, domains.node(m.to)).second;
    EXPECT_TRUE(first || c.route == "three_step");
  }
  if (c.route != "three_step") return;
  for (const auto& [stage, of_stage] : by_stage) {
    test::expect_balanced(of_stage, domains, true);
    test::expect_balanced(of_stage, domains, false);
  }
}

class DomainRoute : public testing::TestWithParam<Route> {};
INSTANTIATE_TEST_SUITE_P(Routes, DomainRoute, testing::Values("two_step", "three_step"),
                         [](const auto& route) { return route.param.name(); });

TEST_P(DomainRoute, RandomPatternsAndTopologies) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Case c(GetParam(), seed);
    test::expect_sound(c.run, c.reference, c.topology);
    expect_same_between_nodes(c);
    expect_nothing_enters_a_domain_twice(c);
    expect_few_and_shared(c);
    if (HasFailure()) return;
  }
}

// Every stage inside the nodes becomes as many as the route has between nodes.
TEST_P(DomainRoute, StagesAreThoseOfTheRouteTwice) {
  const bool two = GetParam() == "two_step";
  Dice dice(3);
  const std::vector<Pattern> patterns = test::random_patterns(8, dice);
  const Topology nodes(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  const Topology one(std::vector<int>(8, 0));
  const std::vector<int> halves = {0, 0, 1, 1, 0, 0, 1, 1};
  const auto n_stages = [&](const Topology& topology) {
    std::set<std::size_t> sizes;
    for (const Plan& plan : plan_all(GetParam(), patterns, topology)) {
      sizes.insert(plan.stages.size());
    }
    return sizes;
  };
  using Sizes = std::set<std::size_t>;
  EXPECT_EQ(n_stages(one), Sizes{1U});
  EXPECT_EQ(n_stages(nodes), (Sizes{two ? 2U : 3U}));
  EXPECT_EQ(n_stages(one.with_domains(halves)), (Sizes{two ? 2U : 3U}));
  EXPECT_EQ(n_stages(nodes.with_domains(halves)), (Sizes{two ? 4U : 7U}));
}

bool same(const Stage& a, const Stage& b) {
  return std::tie(a.send_ranks, a.send_offsets, a.send_entries, a.recv_ranks, a.recv_offsets) ==
         std::tie(b.send_ranks, b.send_offsets, b.send_entries, b.recv_ranks, b.recv_offsets);
}

bool same(const Plan& a, const Plan& b) {
  return a.n_owned == b.n_owned && a.n_ghosts == b.n_ghosts && a.ghost_entries == b.ghost_entries &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [](const Stage& s, const Stage& t) { return same(s, t); });
}

TEST_P(DomainRoute, OneDomainANodeIsThePlanWithoutThem) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    const Topology nodes = test::random_topology(12, dice);
    const std::vector<Pattern> patterns = test::random_patterns(12, dice);
    std::vector<int> names;  // one a node, other ones on other nodes
    for (int r = 0; r < 12; ++r) names.push_back(7 * nodes.node(r) % 5);
    const auto with = plan_all(GetParam(), patterns, nodes.with_domains(names));
    const auto without = plan_all(GetParam(), patterns, nodes);
    for (std::size_t r = 0; r < with.size(); ++r) EXPECT_TRUE(same(with[r], without[r]));
  }
}

// By hand: two domains of two ranks on one node; ranks 2 and 3 both need entry 0 of rank 0.
TEST_P(DomainRoute, WhatADomainNeedsTwiceCrossesOnce) {
  const auto patterns =
      test::patterns_of({2, 1, 1, 1}, {{{0, 1}, {1}}, {{0, 2}, {0}}, {{0, 3}, {0}}});
  const Topology topology =
      Topology(std::vector<int>(4, 0)).with_domains(std::vector<int>{5, 5, 2, 2});
  const VirtualRun run = run_forward(plan_all(GetParam(), patterns, topology));
  ASSERT_EQ(run.messages.size(), 3U);
  // two_step: rank 0 to its corresponding rank 2. three_step: what leaves is sent by the first of
  // the domain, and received by the last.
  const int entry = GetParam() == "two_step" ? 2 : 3;
  const std::size_t cross = GetParam() == "two_step" ? 0 : 1;
  const auto expect_message = [&](std::size_t stage, int from, int to, const SentEntry& what) {
    const auto found = std::find_if(run.messages.begin(), run.messages.end(),
                                    [&](const Sent& m) { return m.from == from && m.to == to; });
    ASSERT_NE(found, run.messages.end()) << from << " to " << to;
    EXPECT_EQ(found->stage, stage);
    EXPECT_EQ(found->entries, std::vector<SentEntry>{what});
  };
  expect_message(0, 0, 1, {0, 1});
  expect_message(cross, 0, entry, {0, 0});
  expect_message(cross + 1, entry, 5 - entry, {0, 0});
}

// The parts of a plan, by hand: rank 1 of a node {0, 1, 2}; ranks 3 and 4 are on another.
TEST(Splice, TakesTheOnNodeMessagesAndPutsOthersBack) {
  const Topology topology(std::vector<int>{0, 0, 0, 1, 1});
  Plan plan;
  plan.n_owned = 2;
  plan.n_ghosts = 4;
  plan.stages.push_back({.send_ranks = {0, 3},
                         .send_offsets = {0, 1, 3},
                         .send_entries = {1, 0, 1},
                         .recv_ranks = {0, 2, 3},
                         .recv_offsets = {0, 2, 3, 5}});  // the pool: 2 3 of 0, 4 of 2, 5 6 of 3
  plan.stages.push_back({.send_ranks = {2},
                         .send_offsets = {0, 2},
                         .send_entries = {6, 3},
                         .recv_ranks = {},
                         .recv_offsets = {0}});
  plan.ghost_entries = {2, 4, 6, 3};

  const Pattern first = on_node_pattern(plan, 0, topology, 1);
  EXPECT_EQ(first.n_owned, 2);
  EXPECT_EQ(first.n_ghosts, 3);
  EXPECT_EQ(first.send_ranks, (std::vector<int>{0}));
  EXPECT_EQ(first.send_entries, (std::vector<LocalIndex>{1}));
  EXPECT_EQ(first.recv_ranks, (std::vector<int>{0, 2}));
  EXPECT_EQ(first.recv_offsets, (std::vector<LocalIndex>{0, 2, 3}));
  EXPECT_EQ(on_node_pattern(plan, 1, topology, 1).n_owned, 7);

  // All comes by way of rank 2: what is of 2 and the second of 0 first, then the first of 0.
  Plan inner;
  inner.n_owned = 2;
  inner.n_ghosts = 3;
  inner.stages.push_back({.send_ranks = {0},
                          .send_offsets = {0, 1},
                          .send_entries = {1},
                          .recv_ranks = {2},
                          .recv_offsets = {0, 2}});
  inner.stages.push_back({.send_ranks = {},
                          .send_offsets = {0},
                          .send_entries = {},
                          .recv_ranks = {2},
                          .recv_offsets = {0, 1}});
  inner.ghost_entries = {4, 3, 2};
  const std::vector<Replacement> replacements = {{0, inner}};
  const Plan spliced = splice(plan, replacements, topology, 1);
  ASSERT_EQ(spliced.stages.size(), 3U);
  // The pool: 2 3 of 2 (once 4 and 3), 4 5 of 3 (once 5 and 6), 6 of 2 (once 2).
  EXPECT_EQ(spliced.stages[0].send_ranks, (std::vector<int>{0, 3}));
  EXPECT_EQ(spliced.stages[0].send_entries, (std::vector<LocalIndex>{1, 0, 1}));
  EXPECT_EQ(spliced.stages[0].recv_ranks, (std::vector<int>{2, 3}));
  EXPECT_EQ(spliced.stages[0].recv_offsets, (std::vector<LocalIndex>{0, 2, 4}));
  EXPECT_EQ(spliced.stages[1].recv_ranks, (std::vector<int>{2}));
  EXPECT_EQ(spliced.stages[2].send_ranks, (std::vector<int>{2}));
  EXPECT_EQ(spliced.stages[2].send_entries, (std::vector<LocalIndex>{5, 3}));
  EXPECT_EQ(spliced.ghost_entries, (std::vector<LocalIndex>{6, 2, 5, 3}));
}

}  // namespace comm_domain_route_test
}  // namespace nodewise::comm::route
