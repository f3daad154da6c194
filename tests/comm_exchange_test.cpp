// The executor: direct plans and plans of several stages, against what every rank can compute.
#include <cstring>
#include <limits>
#include <tuple>

#include <gtest/gtest.h>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/route.hpp"

#include "collective_error.hpp"
#include "domain_support.hpp"
#include "exchange_checks.hpp"
#include "exchange_support.hpp"
#include "support.hpp"

namespace nodewise::comm {
namespace comm_exchange_test {

using test::Case;
using test::expect_all;
using test::expect_forward;
using test::expect_forward_records;
using test::expect_reverse_add;
using test::expect_reverse_records;
using test::expect_same_error;
using test::ghosts_of;
using test::owned_values;
using test::random_layout;
using test::test_comm;
using test::value_of;

std::size_t expected_stages(Route route, const mpi::Topology& topology) {
  if (topology.n_nodes() == 1 || route == "direct") return 1;
  return route == "two_step" ? 2 : 3;
}

TEST(Exchange, DirectPlanForwardReversedAndRecords) {
  const auto comm = test_comm();
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Case c(comm, 60, seed % 2 == 0 ? 0.15 : 0.7, seed);
    Exchange exchange(comm, c.direct);
    expect_all(exchange, c);
  }
}

TEST(Exchange, ThreeStagesEqualTheDirectPlan) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Case c(comm, 40, seed % 2 == 0 ? 0.08 : 0.6, seed);
      Exchange exchange(comm, c.staged);
      expect_all(exchange, c);
    }
  }
}

TEST(Exchange, RoutesEqualTheDirectPlan) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (const Route route : RouteMethod::family()) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const GlobalIndex first = seed % 2 == 0 ? 0 : (GlobalIndex{1} << 41) + 3;
        const Case c(comm, 40, seed < 3 ? 0.1 : 0.6, seed, first);
        const Plan plan = make_plan(*comm, discover_pattern(c.layout, c.mine()), route);
        EXPECT_EQ(plan.stages.size(), expected_stages(route, comm->topology()));
        Exchange exchange(comm, plan);
        expect_all(exchange, c);
      }
    }
  }
}

TEST(Exchange, RoutesOverDomainsEqualTheDirectPlan) {
  for (const auto& map : test::domain_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.topology);
    const Case c(comm, 40, 0.4, 1, (GlobalIndex{1} << 41) + 3);
    for (const Route route : {"two_step", "three_step"}) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      Exchange exchange(comm, make_plan(*comm, discover_pattern(c.layout, c.mine()), route));
      expect_all(exchange, c);
    }
  }
}

// A route that silently was another would send as many messages between nodes.
TEST(Exchange, RoutesSendTheMessagesTheyPromise) {
  const int p = test_comm()->size();
  if (p < 4) GTEST_SKIP() << "needs two nodes of two ranks";
  std::vector<int> node_of_rank(static_cast<std::size_t>(p));
  for (int r = 0; r < p; ++r) node_of_rank[static_cast<std::size_t>(r)] = r < p / 2 ? 0 : 1;
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, node_of_rank);
  const Layout layout = Layout::uniform(comm, 5 * p);
  const Pattern pattern = discover_pattern(layout, ghosts_of(layout, comm->rank(), 1.1, 1));
  const auto off_node = [&](Route route) {
    const Traffic mine = traffic(make_plan(*comm, pattern, route), comm->topology(), comm->rank());
    return std::pair(mpi::sum(*comm, mine.messages_off_node),
                     mpi::sum(*comm, mine.entries_off_node));
  };
  using Counts = std::pair<std::int64_t, std::int64_t>;
  const std::int64_t first = p / 2;
  const std::int64_t second = p - first;
  EXPECT_EQ(off_node("direct"), Counts(2 * first * second, 2 * 5 * first * second));
  EXPECT_EQ(off_node("two_step"), Counts(p, 5 * p));
  // One partner each: the pair is split over as many ranks as both nodes have.
  EXPECT_EQ(off_node("three_step"), Counts(2 * first, 5 * p));
}

TEST(Pattern, IsGivenBackByItsDirectPlan) {
  const Case c(test_comm(), 45, 0.4, 3);
  const Pattern p = discover_pattern(c.layout, c.mine());
  const Pattern q = route::pattern_of(route::direct(p));
  EXPECT_EQ(std::tie(q.n_owned, q.n_ghosts, q.recv_ranks, q.recv_offsets),
            std::tie(p.n_owned, p.n_ghosts, p.recv_ranks, p.recv_offsets));
  EXPECT_EQ(std::tie(q.send_ranks, q.send_offsets, q.send_entries),
            std::tie(p.send_ranks, p.send_offsets, p.send_entries));
}

TEST(Exchange, SmallPiecesGiveTheSame) {
  const auto comm =
      mpi::Comm::create(MPI_COMM_WORLD, test::node_maps(test_comm()->size()).back().node_of_rank);
  const Case c(comm, 50, 0.5, 11);
  for (const Offset bytes : {1, 5, 8, 64}) {
    Exchange direct(comm, c.direct, "point_to_point", bytes);
    Exchange staged(comm, c.staged, "point_to_point", bytes);
    for (Exchange* exchange : {&direct, &staged}) {
      expect_forward<double>(*exchange, c, 3);
      expect_forward<std::int8_t>(*exchange, c, 1);
      expect_reverse_add<float>(*exchange, c, 2);
      if (bytes == 1) continue;  // thousands of messages
      expect_forward_records(*exchange, c);
      expect_reverse_records(*exchange, c);
    }
  }
}

TEST(Exchange, RefusesImpossiblePieceSizes) {
  const auto comm = test_comm();
  constexpr Offset too_long = Offset{std::numeric_limits<int>::max()} + 1;
  for (const Offset bytes : {Offset{0}, Offset{-1}, too_long}) {
    expect_same_error(*comm, ErrorCode::invalid_argument,
                      [&] { Exchange(comm, Plan{}, "point_to_point", bytes); });
  }
}

TEST(Exchange, IndicesBeyond40Bits) {
  const auto comm = test_comm();
  for (const GlobalIndex first : {GlobalIndex{1} << 33, (GlobalIndex{1} << 41) + 3}) {
    const Case c(comm, 30, 0.4, 5, first);
    Exchange direct(comm, c.direct);
    Exchange staged(comm, c.staged);
    expect_all(direct, c);
    expect_all(staged, c);
  }
}

TEST(Exchange, NoGhostsAndNoEntriesAtAll) {
  const auto comm = test_comm();
  for (const GlobalIndex n : {0, 1, 9}) {
    const Case c(comm, n, 0.0, 3);
    EXPECT_EQ(traffic(c.direct, comm->topology(), comm->rank()).messages_on_node, 0);
    Exchange direct(comm, c.direct);
    Exchange staged(comm, c.staged);
    Exchange nothing(
        comm,
        Plan{.n_owned = c.layout.n_local(), .n_ghosts = 0, .stages = {}, .ghost_entries = {}});
    expect_all(direct, c);
    expect_all(staged, c);
    expect_all(nothing, c);
  }
}

TEST(Exchange, MoreRanksThanEntries) {
  const auto comm = test_comm();
  for (const GlobalIndex n : {1, 2}) {
    const Case c(comm, n, 1.1, 3);  // everybody wants everything
    Exchange direct(comm, c.direct);
    Exchange staged(comm, c.staged);
    expect_all(direct, c);
    expect_all(staged, c);
  }
}

// Rank 0's entry is handed on from rank to rank: every rank keeps what it relays as its ghost, and
// the pool is the array of ghosts itself.
TEST(Exchange, ChainOfRanksReceivedInPlace) {
  const auto comm = test_comm();
  const int rank = comm->rank();
  Plan plan;
  plan.n_owned = 1;
  plan.n_ghosts = rank > 0 ? 1 : 0;
  for (int s = 0; s + 1 < comm->size(); ++s) {
    Stage& stage = plan.stages.emplace_back();
    if (rank == s) {
      stage.send_ranks = {s + 1};
      stage.send_offsets = {0, 1};
      stage.send_entries = {rank > 0 ? 1 : 0};
    } else if (rank == s + 1) {
      stage.recv_ranks = {s};
      stage.recv_offsets = {0, 1};
    }
  }
  Exchange exchange(comm, plan);
  const std::vector<double> owned = {3.5 + rank};
  std::vector<double> ghosts(rank > 0 ? 1 : 0);
  exchange.forward(std::span<const double>(owned), std::span<double>(ghosts));
  for (const double ghost : ghosts) EXPECT_EQ(ghost, 3.5);

  const std::vector<double> given(ghosts.size(), 1.0 + rank);
  std::vector<double> sums = {0.5};
  exchange.reverse_add(std::span<const double>(given), std::span<double>(sums));
  const int p = comm->size();
  EXPECT_EQ(sums[0], rank == 0 ? 0.5 + p * (p + 1) / 2 - 1 : 0.5);
  EXPECT_EQ(given, std::vector<double>(ghosts.size(), 1.0 + rank));

  Records<int> record;
  if (!exchange.exported_entries().empty()) record = {{0, 2}, {rank, 40 + rank}};
  const auto got = exchange.forward_records(record);
  ASSERT_EQ(got.size(), ghosts.size());
  if (rank > 0) {
    EXPECT_EQ(got.data, (std::vector<int>{0, 40}));
  }
}

// Rank 1 passes on what it has no use for: it receives, although it has no ghosts.
TEST(Exchange, RelayWithoutGhosts) {
  const auto comm = test_comm();
  if (comm->size() < 3) GTEST_SKIP() << "needs 3 ranks";
  const Layout layout = Layout::uniform(comm, 10 * comm->size());
  std::vector<std::vector<GlobalIndex>> ghosts(static_cast<std::size_t>(comm->size()));
  ghosts[2] = {1, 4, 9};
  test::PlanByHand plan(layout, comm->rank());
  plan.add_stage({{{0, 1}, {1, 4, 9}}});
  plan.add_stage({{{1, 2}, {1, 4, 9}}});
  Case c(comm, 1, 0.0, 1);
  c.layout = layout;
  c.ghosts = ghosts;
  Exchange exchange(comm, plan.finish(c.mine()));
  expect_all(exchange, c);
}

TEST(Exchange, StartLeavesRoomForWorkAndTwoExchangesOverlap) {
  const auto comm = test_comm();
  const Case a(comm, 40, 0.5, 21);
  const Case b(comm, 30, 0.5, 22);
  Exchange first(comm, a.staged);
  Exchange second(comm, b.direct);
  const auto x = owned_values<double>(a.layout, 1);
  const auto y = owned_values<float>(b.layout, 2);
  std::vector<double> x_ghosts(a.mine().size());
  std::vector<float> y_ghosts(2 * b.mine().size());
  for (int round = 0; round < 20; ++round) {
    std::fill(x_ghosts.begin(), x_ghosts.end(), 0.0);
    first.start(std::span<const double>(x), std::span<double>(x_ghosts));
    second.start(std::span<const float>(y), std::span<float>(y_ghosts), 2);
    second.finish();
    first.finish();
    for (std::size_t g = 0; g < x_ghosts.size(); ++g) {
      EXPECT_EQ(x_ghosts[g], value_of<double>(a.mine()[g], 0));
    }
    for (std::size_t g = 0; g < y_ghosts.size(); ++g) {
      EXPECT_EQ(y_ghosts[g], value_of<float>(b.mine()[g / 2], static_cast<int>(g % 2)));
    }
  }
}

TEST(Exchange, RefusesASecondExchangeWhileOneIsInFlight) {
  const auto comm = test_comm();
  const Case c(comm, 20, 0.5, 8);
  Exchange exchange(comm, c.direct);
  const auto x = owned_values<double>(c.layout, 1);
  std::vector<double> ghosts(c.mine().size());
  std::vector<double> sums(x.size());
  const std::span<double> in(ghosts);
  expect_same_error(*comm, ErrorCode::internal, [&] { exchange.finish(); });
  exchange.start(std::span<const double>(x), in);
  const auto refused = [&](auto&& work) { expect_same_error(*comm, ErrorCode::internal, work); };
  refused([&] { exchange.start(std::span<const double>(x), in); });
  refused([&] { exchange.reverse_add(std::span<const double>(ghosts), std::span<double>(sums)); });
  refused([&] { exchange.forward_records(Records<int>{std::vector<Offset>(x.size() + 1), {}}); });
  refused([&] {
    exchange.reverse_records(Records<int>{std::vector<Offset>(ghosts.size() + 1), {}});
  });
  exchange.finish();
  for (std::size_t g = 0; g < ghosts.size(); ++g) {
    EXPECT_EQ(ghosts[g], value_of<double>(c.mine()[g], 0));
  }
}

TEST(Exchange, AbandonedInFlightIsCompletedWhenDestroyed) {
  const auto comm = test_comm();
  const Case c(comm, 40, 0.5, 9);
  const auto x = owned_values<double>(c.layout, 1);
  std::vector<double> ghosts(c.mine().size());
  for (const Plan* plan : {&c.direct, &c.staged}) {
    Exchange exchange(comm, *plan);
    exchange.start(std::span<const double>(x), std::span<double>(ghosts));
  }
  Exchange next(comm, c.direct);  // hears nothing of the ones before
  expect_all(next, c);
}

TEST(Pattern, HasEveryGhostOnceAndRanksAscend) {
  const auto comm = test_comm();
  for (std::uint64_t seed = 30; seed < 36; ++seed) {
    const Case c(comm, 45, 0.4, seed);
    const Pattern p = discover_pattern(c.layout, c.mine());
    EXPECT_EQ(p.n_owned, c.layout.n_local());
    EXPECT_EQ(std::cmp_equal(p.n_ghosts, c.mine().size()), true);
    EXPECT_TRUE(std::is_sorted(p.send_ranks.begin(), p.send_ranks.end()));
    ASSERT_EQ(p.recv_offsets.size(), p.recv_ranks.size() + 1);
    ASSERT_EQ(p.send_offsets.size(), p.send_ranks.size() + 1);
    EXPECT_EQ(p.recv_offsets.back(), p.n_ghosts);
    EXPECT_EQ(std::cmp_equal(p.send_offsets.back(), p.send_entries.size()), true);
    for (std::size_t i = 0; i < p.recv_ranks.size(); ++i) {
      EXPECT_LT(p.recv_offsets[i], p.recv_offsets[i + 1]);
      for (LocalIndex g = p.recv_offsets[i]; g < p.recv_offsets[i + 1]; ++g) {
        EXPECT_EQ(c.layout.owner(c.mine()[static_cast<std::size_t>(g)]), p.recv_ranks[i]);
      }
    }
    std::vector<int> readers;
    std::vector<LocalIndex> entries;
    for (int r = 0; r < comm->size(); ++r) {
      const std::size_t before = entries.size();
      for (const GlobalIndex i : c.ghosts[static_cast<std::size_t>(r)]) {
        if (c.layout.owns(i)) entries.push_back(c.layout.to_local(i));
      }
      if (entries.size() > before) readers.push_back(r);
    }
    EXPECT_EQ(p.send_ranks, readers);
    EXPECT_EQ(p.send_entries, entries);
  }
}

TEST(Pattern, BadGhostsOnOneRankFailOnAll) {
  const auto comm = test_comm();
  const Layout layout(comm, [&] {
    std::vector<GlobalIndex> starts;
    for (int r = 0; r <= comm->size(); ++r) starts.push_back(100 + 3 * r);
    return starts;
  }());
  const bool culprit = comm->rank() == comm->size() - 1;
  const auto fails = [&](std::vector<GlobalIndex> ghosts) {
    if (!culprit) ghosts.clear();
    const auto text =
        expect_same_error(*comm, ErrorCode::internal, [&] { discover_pattern(layout, ghosts); });
    const std::string rank = "rank " + std::to_string(comm->size() - 1) + ": ";
    EXPECT_EQ(text.starts_with(rank), comm->size() > 1) << text;
  };
  fails({99});             // before the layout
  fails({layout.last()});  // after it
  fails({-1});
  fails({layout.end() - 1});  // the rank's own
  if (comm->size() > 1) {
    fails({100, 100});  // twice
    fails({101, 100});  // descending
  }
  EXPECT_EQ(discover_pattern(layout, {}).n_ghosts, 0);  // and nothing is left over
}

}  // namespace comm_exchange_test
}  // namespace nodewise::comm
