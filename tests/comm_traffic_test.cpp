// Messages counted: what the plans announce, and what MPI is really asked to send.
#include <gtest/gtest.h>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/comm/route/route.hpp"

#include "domain_support.hpp"
#include "exchange_support.hpp"
#include "mpi_counter.hpp"
#include "support.hpp"

namespace nodewise::comm {
namespace comm_traffic_test {

using test::counted;
using test::MpiCalls;

std::vector<std::vector<GlobalIndex>> all_ghosts(const Layout& layout, double density) {
  std::vector<std::vector<GlobalIndex>> ghosts;
  for (int r = 0; r < layout.comm().size(); ++r) {
    ghosts.push_back(test::ghosts_of(layout, r, density, 4));
  }
  return ghosts;
}

// Entries and messages that rank `from` owes to others, by locality, from the ghosts of all ranks.
Traffic direct_traffic(const Layout& layout, const std::vector<std::vector<GlobalIndex>>& ghosts,
                       int from) {
  Traffic total;
  const mpi::Topology& topology = layout.comm().topology();
  for (int to = 0; to < topology.n_ranks(); ++to) {
    std::int64_t entries = 0;
    for (const GlobalIndex i : ghosts[static_cast<std::size_t>(to)]) {
      entries += layout.owner(i) == from ? 1 : 0;
    }
    if (entries == 0) continue;
    const bool same = topology.same_node(from, to);
    (same ? total.messages_on_node : total.messages_off_node) += 1;
    (same ? total.entries_on_node : total.entries_off_node) += entries;
  }
  return total;
}

TEST(Traffic, DirectPlanByLocalityOnEveryNodeMap) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Layout layout = test::random_layout(comm, 50, 2);
    const auto ghosts = all_ghosts(layout, 0.3);
    const Plan plan =
        route::direct(discover_pattern(layout, ghosts[static_cast<std::size_t>(comm->rank())]));
    const Traffic got = traffic(plan, comm->topology(), comm->rank());
    const Traffic expected = direct_traffic(layout, ghosts, comm->rank());
    EXPECT_EQ(got.messages_on_node, expected.messages_on_node);
    EXPECT_EQ(got.messages_off_node, expected.messages_off_node);
    EXPECT_EQ(got.entries_on_node, expected.entries_on_node);
    EXPECT_EQ(got.entries_off_node, expected.entries_off_node);
    if (map.name == "one_node") {
      EXPECT_EQ(got.messages_off_node, 0);
    }
    if (map.name == "all_separate") {
      EXPECT_EQ(got.messages_on_node, 0);
    }
  }
}

// Through three stages each entry crosses once to each node, in one message for each pair of nodes.
TEST(Traffic, StagedPlanCrossesNodesOnce) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const mpi::Topology& topology = comm->topology();
    const Layout layout = test::random_layout(comm, 50, 2);
    const auto ghosts = all_ghosts(layout, 0.3);
    std::set<std::pair<int, int>> node_pairs;
    std::set<std::pair<GlobalIndex, int>> crossings;
    for (int r = 0; r < comm->size(); ++r) {
      for (const GlobalIndex i : ghosts[static_cast<std::size_t>(r)]) {
        const int owner = layout.owner(i);
        if (topology.same_node(owner, r)) continue;
        node_pairs.insert({topology.node(owner), topology.node(r)});
        crossings.insert({i, topology.node(r)});
      }
    }
    const Plan plan = test::three_step_by_hand(layout, topology, ghosts, comm->rank());
    const Traffic mine = traffic(plan, topology, comm->rank());
    EXPECT_EQ(std::cmp_equal(mpi::sum(*comm, mine.messages_off_node), node_pairs.size()), true);
    EXPECT_EQ(std::cmp_equal(mpi::sum(*comm, mine.entries_off_node), crossings.size()), true);
  }
}

// What is to be sent in a run of a plan whose entries have `bytes` bytes each.
MpiCalls expected_calls(const Traffic& t, std::int64_t bytes) {
  return {.messages_on_node = t.messages_on_node,
          .messages_off_node = t.messages_off_node,
          .bytes_on_node = bytes * t.entries_on_node,
          .bytes_off_node = bytes * t.entries_off_node};
}

// The traffic of a reversed run: what is received forwards.
Traffic reversed_traffic(const Plan& plan, const mpi::Topology& topology, int rank) {
  Plan reversed = plan;
  for (Stage& stage : reversed.stages) {
    stage.send_ranks = stage.recv_ranks;
    stage.send_offsets = stage.recv_offsets;
  }
  return traffic(reversed, topology, rank);
}

MpiCalls messages_only(MpiCalls calls) {
  calls.collectives = 0;  // agreements
  return calls;
}

/// Runs an exchange in all its ways and compares what MPI is asked to send with the plan.
void expect_calls_of_plan(const std::shared_ptr<const mpi::Comm>& comm, const Plan& plan,
                          const std::vector<int>& nodes) {
  const Traffic t = traffic(plan, comm->topology(), comm->rank());
  const Traffic back = reversed_traffic(plan, comm->topology(), comm->rank());
  Exchange exchange(comm, plan);
  const auto n_owned = static_cast<std::size_t>(plan.n_owned);
  const auto n_ghosts = static_cast<std::size_t>(plan.n_ghosts);
  const std::vector<double> owned(3 * n_owned, 1.5);
  std::vector<double> ghosts(3 * n_ghosts);
  const auto forward = [&] {
    exchange.forward(std::span<const double>(owned), std::span<double>(ghosts), 3);
  };
  EXPECT_EQ(counted(nodes, forward), expected_calls(t, 24));

  std::vector<float> sums(n_owned);
  const std::vector<float> out(n_ghosts, 2.0F);
  const auto reverse = [&] {
    exchange.reverse_add(std::span<const float>(out), std::span<float>(sums));
  };
  EXPECT_EQ(counted(nodes, reverse), expected_calls(back, 4));

  // Two items in each record, and its length in the same message.
  const auto pairs = [](std::size_t n) {
    Records<std::int16_t> records;
    for (std::size_t i = 1; i <= n; ++i) records.offsets.push_back(static_cast<Offset>(2 * i));
    records.data.assign(2 * n, 9);
    return records;
  };
  MpiCalls rows =
      counted(nodes, [&] { exchange.forward_records(pairs(exchange.exported_entries().size())); });
  EXPECT_EQ(messages_only(rows), expected_calls(t, 8 + 4));

  // On their way back records for one entry are joined where they meet, so that with several stages
  // the plan says how many messages there are, but not their length.
  rows = counted(nodes, [&] { exchange.reverse_records(pairs(n_ghosts)); });
  EXPECT_EQ(rows.messages_on_node, back.messages_on_node);
  EXPECT_EQ(rows.messages_off_node, back.messages_off_node);
  if (plan.stages.size() == 1) {
    EXPECT_EQ(rows.bytes(), (8 + 4) * (back.entries_on_node + back.entries_off_node));
  }
}

TEST(Traffic, MpiSendsExactlyThePlanOfEveryRouteOnEveryNodeMap) {
  mpi::CommSettings settings;
  settings.allreduce = "mpi";  // so that agreements send nothing themselves
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank, settings);
    const Layout layout = test::random_layout(comm, 60, 7);
    const auto ghosts = all_ghosts(layout, 0.4);
    const Pattern pattern =
        discover_pattern(layout, ghosts[static_cast<std::size_t>(comm->rank())]);
    for (const Route route : RouteMethod::family()) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      expect_calls_of_plan(comm, make_plan(*comm, pattern, route), map.node_of_rank);
    }
    SCOPED_TRACE(map.name + ", by hand");
    expect_calls_of_plan(comm,
                         test::three_step_by_hand(layout, comm->topology(), ghosts, comm->rank()),
                         map.node_of_rank);
  }
}

/// All calls of collectives and messages so far.
std::int64_t calls_of(mpi::Ledger& ledger) {
  std::int64_t calls = 0;
  for (const mpi::Account& account : ledger.accounts()) {
    calls += account.counts.collectives + account.counts.messages();
  }
  return calls;
}

// Several exchanges are forecast in one gathering as each by itself.
TEST(Traffic, OfSeveralExchangesIsForeseenTogether) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Layout layout = Layout::uniform(comm, 20 * comm->size());
    std::vector<Plan> plans;
    for (const double density : {0.4, 0.0, 0.02, 1.0}) {
      const auto ghosts = all_ghosts(layout, density);
      const Pattern pattern =
          discover_pattern(layout, ghosts[static_cast<std::size_t>(comm->rank())]);
      plans.push_back(make_plan(*comm, pattern, "direct"));
    }
    std::optional<Error> failure;
    const std::int64_t before = calls_of(comm->ledger());
    const std::vector<MessageEstimate> together = forecasts(*comm, plans, failure);
    const std::int64_t of_all = calls_of(comm->ledger()) - before;
    ASSERT_EQ(together.size(), plans.size());
    for (std::size_t k = 0; k < plans.size(); ++k) {
      const std::int64_t so_far = calls_of(comm->ledger());
      const MessageEstimate alone = forecast(*comm, plans[k], failure);
      EXPECT_EQ(calls_of(comm->ledger()) - so_far, of_all);
      for (const Route route : RouteMethod::family()) {
        const auto expected = alone.sizes(route), sizes = together[k].sizes(route);
        ASSERT_EQ(sizes.size(), expected.size());
        for (std::size_t s = 0; s < sizes.size(); ++s) {
          EXPECT_EQ(sizes[s].sent, expected[s].sent);
          EXPECT_EQ(sizes[s].received, expected[s].received);
        }
      }
    }
    EXPECT_FALSE(failure);
  }
}

// Told from the direct plan; every rank needs entries of most others.
TEST(Traffic, OfTheRoutesIsForeseenOnEveryNodeMap) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const mpi::Topology& topology = comm->topology();
    const std::vector<GlobalIndex> starts = [&] {
      std::vector<GlobalIndex> of_ranks;
      for (int r = 0; r <= comm->size(); ++r) of_ranks.push_back(20 * r);
      return of_ranks;
    }();
    const Layout layout(comm, starts);
    const auto ghosts = all_ghosts(layout, 0.4);
    const Pattern pattern =
        discover_pattern(layout, ghosts[static_cast<std::size_t>(comm->rank())]);
    const Plan direct = make_plan(*comm, pattern, "direct");
    std::optional<Error> failure;
    const MessageEstimate foreseen = forecast(*comm, direct, failure);
    ASSERT_FALSE(failure);
    // All nodes talk to all: only a smaller one has fewer ranks for the exchange of two.
    bool even = true;
    for (int node = 0; node < topology.n_nodes(); ++node) {
      even = even && topology.ranks_on(node).size() == topology.ranks_on(0).size();
    }
    for (const Route route : RouteMethod::family()) {
      const Traffic said = traffic(foreseen.sizes(route), topology, comm->rank());
      const Traffic real = traffic(make_plan(*comm, pattern, route), topology, comm->rank());
      const mpi::Comm& node = comm->node();
      EXPECT_EQ(mpi::sum(node, said.entries_off_node), mpi::sum(node, real.entries_off_node));
      if (route != "three_step" || even) {
        EXPECT_EQ(said.messages_off_node, real.messages_off_node);
        EXPECT_EQ(said.entries_off_node, real.entries_off_node);
      }
      EXPECT_GE(said.messages_off_node, real.messages_off_node);
      if (route == "three_step") continue;
      EXPECT_EQ(said.messages_on_node, real.messages_on_node);
      EXPECT_EQ(said.entries_on_node, real.entries_on_node);
    }
  }
}

// The messages inside a domain are counted as MPI sends them, with domains taken for nodes.
TEST(Traffic, MpiSendsExactlyThePlanOverDomains) {
  mpi::CommSettings settings;
  settings.allreduce = "mpi";
  for (const auto& map : test::domain_maps(test::test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.topology, settings);
    const Layout layout = test::random_layout(comm, 60, 7);
    const auto ghosts = all_ghosts(layout, 0.4);
    const Pattern pattern =
        discover_pattern(layout, ghosts[static_cast<std::size_t>(comm->rank())]);
    std::vector<int> nodes, domains;
    for (int r = 0; r < comm->size(); ++r) {
      nodes.push_back(map.topology.node(r));
      domains.push_back(map.topology.domains().node(r));
    }
    for (const Route route : RouteMethod::family()) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      const Plan plan = make_plan(*comm, pattern, route);
      expect_calls_of_plan(comm, plan, nodes);
      const Traffic t = traffic(plan, comm->topology(), comm->rank());
      Exchange exchange(comm, plan);
      const std::vector<double> owned(static_cast<std::size_t>(plan.n_owned));
      std::vector<double> received(static_cast<std::size_t>(plan.n_ghosts));
      comm->ledger().clear();
      const MpiCalls calls = counted(domains, [&] {
        exchange.forward(std::span<const double>(owned), std::span<double>(received));
      });
      mpi::Counts books;
      for (const mpi::Account& account : comm->ledger().accounts()) {
        books.messages_on_domain += account.counts.messages_on_domain;
        books.bytes_on_domain += account.counts.bytes_on_domain;
      }
      EXPECT_EQ(books.messages_on_domain, calls.messages_on_node);
      EXPECT_EQ(books.bytes_on_domain, calls.bytes_on_node);
      EXPECT_EQ(calls.messages_on_node, t.messages_on_domain);
      EXPECT_EQ(calls.bytes_on_node, 8 * t.entries_on_domain);
      EXPECT_EQ(calls.messages(), t.messages_on_node + t.messages_off_node);
    }
  }
}

TEST(Traffic, CountsMessagesInADomainAmongThoseOnItsNode) {
  // Rank 0 sends one entry to its domain, two to the other, three to another node.
  const mpi::Topology nodes(std::vector<int>{0, 0, 0, 1});
  Plan plan;
  plan.n_owned = 3;
  plan.stages.push_back({.send_ranks = {1, 2, 3},
                         .send_offsets = {0, 1, 3, 6},
                         .send_entries = {0, 0, 1, 0, 1, 2},
                         .recv_ranks = {},
                         .recv_offsets = {0}});
  const Traffic t = traffic(plan, nodes.with_domains(std::vector<int>{0, 0, 1, 0}), 0);
  EXPECT_EQ(t.messages_on_domain, 1);
  EXPECT_EQ(t.entries_on_domain, 1);
  EXPECT_EQ(t.messages_on_node, 2);
  EXPECT_EQ(t.entries_on_node, 3);
  EXPECT_EQ(t.messages_off_node, 1);
  EXPECT_EQ(t.entries_off_node, 3);
  EXPECT_EQ(traffic(plan, nodes, 0).messages_on_domain, 2);  // not divided
}

TEST(Traffic, LongMessagesAreCutInPieces) {
  const auto comm = test::test_comm();
  const Layout layout = test::random_layout(comm, 60, 7);
  const auto ghosts = all_ghosts(layout, 0.5);
  const auto& mine = ghosts[static_cast<std::size_t>(comm->rank())];
  const Plan plan = route::direct(discover_pattern(layout, mine));
  std::int64_t pieces = 0;
  for (std::size_t i = 0; i < plan.stages[0].send_ranks.size(); ++i) {
    const auto& offsets = plan.stages[0].send_offsets;
    pieces += (8 * (offsets[i + 1] - offsets[i]) + 18) / 19;
  }
  Exchange exchange(comm, plan, "point_to_point", 19);
  const std::vector<double> owned(static_cast<std::size_t>(layout.n_local()), 1.5);
  std::vector<double> in(mine.size());
  const std::vector<int> one_node(static_cast<std::size_t>(comm->size()), 0);
  const MpiCalls forward = counted(
      one_node, [&] { exchange.forward(std::span<const double>(owned), std::span<double>(in)); });
  EXPECT_EQ(forward.messages(), pieces);
  EXPECT_EQ(in, std::vector<double>(mine.size(), 1.5));
}

TEST(Traffic, SparseExchangeSendsOneMessageEach) {
  const auto comm = test::test_comm();
  const std::vector<int> one_node(static_cast<std::size_t>(comm->size()), 0);
  Messages<char> sends;
  sends.ranks = {(comm->rank() + 1) % comm->size()};
  sends.offsets.push_back(0);
  const MpiCalls calls = counted(one_node, [&] { exchange_sparse(*comm, sends); });
  const int to_others = comm->size() > 1 ? 1 : 0;  // what goes to oneself is not sent
  EXPECT_EQ(calls,
            (MpiCalls{.messages_on_node = to_others, .collectives = 1, .synchronous = to_others}));
}

TEST(Rotation, BeginsAfterOneself) {
  const auto order = [](const std::vector<int>& ranks, int rank) {
    const Rotation rotation(ranks, rank);
    std::vector<int> result;
    for (std::size_t i = 0; i < rotation.n; ++i) result.push_back(ranks[rotation[i]]);
    return result;
  };
  EXPECT_EQ(order({0, 2, 3, 7}, 2), (std::vector<int>{3, 7, 0, 2}));
  EXPECT_EQ(order({0, 2, 3, 7}, 1), (std::vector<int>{2, 3, 7, 0}));
  EXPECT_EQ(order({0, 2, 3, 7}, 9), (std::vector<int>{0, 2, 3, 7}));
  EXPECT_EQ(order({4}, 0), (std::vector<int>{4}));
  EXPECT_TRUE(order({}, 0).empty());
}

}  // namespace comm_traffic_test
}  // namespace nodewise::comm
