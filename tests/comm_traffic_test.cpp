// Messages counted: what the plans announce, and what MPI is really asked to send.
#include <atomic>

#include <gtest/gtest.h>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/direct.hpp"

#include "exchange_support.hpp"
#include "support.hpp"

namespace {
std::atomic<std::int64_t> n_isend = 0;
std::atomic<std::int64_t> n_issend = 0;
std::atomic<std::int64_t> n_bytes = 0;
}  // namespace

// MPI's profiling interface: these stand in front of the library's functions.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  ++n_isend;
  n_bytes += std::int64_t{count} * size;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

extern "C" int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  ++n_issend;
  return PMPI_Issend(data, count, type, to, tag, comm, request);
}

namespace nodewise::comm {
namespace {

struct Counts {
  std::int64_t isend, issend, bytes;
  friend bool operator==(const Counts&, const Counts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& c) {
    return out << c.isend << " isend, " << c.issend << " issend, " << c.bytes << " bytes";
  }
};

template <class Work>
Counts counted(Work&& work) {
  n_isend = n_issend = n_bytes = 0;
  work();
  return {n_isend, n_issend, n_bytes};
}

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

TEST(Traffic, MpiSendsExactlyThePlan) {
  const auto comm = mpi::Comm::create(
      MPI_COMM_WORLD, test::node_maps(test::test_comm()->size()).back().node_of_rank);
  const Layout layout = test::random_layout(comm, 60, 7);
  const auto ghosts = all_ghosts(layout, 0.4);
  const auto& mine = ghosts[static_cast<std::size_t>(comm->rank())];
  Pattern pattern;
  const Counts discovery = counted([&] { pattern = discover_pattern(layout, mine); });
  EXPECT_EQ(discovery, (Counts{0, static_cast<std::int64_t>(pattern.recv_ranks.size()), 0}));

  const Plan staged = test::three_step_by_hand(layout, comm->topology(), ghosts, comm->rank());
  for (const Plan& plan : {route::direct(pattern), staged}) {
    const Traffic t = traffic(plan, comm->topology(), comm->rank());
    const std::int64_t messages = t.messages_on_node + t.messages_off_node;
    const std::int64_t entries = t.entries_on_node + t.entries_off_node;
    Exchange exchange(comm, plan);
    const std::vector<double> owned(static_cast<std::size_t>(3 * layout.n_local()), 1.5);
    std::vector<double> in(3 * mine.size());
    const Counts forward = counted(
        [&] { exchange.forward(std::span<const double>(owned), std::span<double>(in), 3); });
    EXPECT_EQ(forward, (Counts{messages, 0, 24 * entries}));

    std::int64_t received = 0;
    std::int64_t sources = 0;
    for (const Stage& stage : plan.stages) {
      received += stage.n_received();
      sources += static_cast<std::int64_t>(stage.recv_ranks.size());
    }
    std::vector<float> sums(static_cast<std::size_t>(layout.n_local()));
    const std::vector<float> out(mine.size(), 2.0F);
    const Counts reversed =
        counted([&] { exchange.reverse_add(std::span<const float>(out), std::span<float>(sums)); });
    EXPECT_EQ(reversed, (Counts{sources, 0, 4 * received}));

    Records<std::int16_t> records;  // two items in each: lengths, then contents
    for (LocalIndex i = 1; i <= layout.n_local(); ++i) records.offsets.push_back(2 * i);
    records.data.assign(static_cast<std::size_t>(2 * layout.n_local()), 9);
    const Counts rows = counted([&] { exchange.forward_records(records); });
    EXPECT_EQ(rows, (Counts{2 * messages, 0, (8 + 4) * entries}));
  }
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
  Exchange exchange(comm, plan, 19);
  const std::vector<double> owned(static_cast<std::size_t>(layout.n_local()), 1.5);
  std::vector<double> in(mine.size());
  const Counts forward =
      counted([&] { exchange.forward(std::span<const double>(owned), std::span<double>(in)); });
  EXPECT_EQ(forward.isend, pieces);
  EXPECT_EQ(in, std::vector<double>(mine.size(), 1.5));
}

TEST(Traffic, SparseExchangeSendsOneMessageEach) {
  const auto comm = test::test_comm();
  Messages<char> sends;
  sends.ranks = {(comm->rank() + 1) % comm->size()};
  sends.offsets.push_back(0);
  const Counts counts = counted([&] { exchange_sparse(*comm, sends); });
  EXPECT_EQ(counts, (Counts{0, 1, 0}));
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

}  // namespace
}  // namespace nodewise::comm
