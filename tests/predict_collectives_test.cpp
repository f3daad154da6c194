// The messages of sparse exchanges and collectives for ranks that are not at hand.
#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/sdde/sdde.hpp"
#include "nodewise/mpi/collectives/allgather.hpp"
#include "nodewise/mpi/collectives/alltoallv.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/predict/collective_messages.hpp"
#include "nodewise/predict/sparse_exchange_messages.hpp"

#include "support.hpp"

namespace nodewise::predict {
namespace predict_collectives_test {

using test::test_comm;

/// A rank's destinations, not itself: about half of the ranks.
std::vector<int> destinations(int n_ranks, int rank) {
  std::vector<int> to;
  for (int other = 0; other < n_ranks; ++other) {
    const auto key = static_cast<std::uint64_t>(rank * n_ranks + other);
    if (other != rank && hash_uniform(key, 4) < 0.5) to.push_back(other);
  }
  return to;
}

/// How many ranks send to this one.
std::int64_t n_receives(int n_ranks, int rank) {
  std::int64_t n = 0;
  for (int other = 0; other < n_ranks; ++other) {
    const std::vector<int> to = destinations(n_ranks, other);
    n += std::count(to.begin(), to.end(), rank);
  }
  return n;
}

/// Messages of `items` numbers of 8 bytes.
SparseSends sends_of_all(int n_ranks, int items) {
  SparseSends sends;
  for (int r = 0; r < n_ranks; ++r) {
    sends.emplace_back();
    for (const int to : destinations(n_ranks, r)) sends.back().push_back({to, 8 * items});
  }
  return sends;
}

struct Counted {
  std::int64_t messages[2] = {}, bytes[2] = {};  // on the node, off it
  bool operator==(const Counted&) const = default;
};

Counted predicted(const SparseExchangeMessages& messages, const mpi::Topology& topology, int rank) {
  Counted counted;
  for (const std::size_t s : messages.of_data) {
    for (const model::SentMessage& m : messages.stages[s][static_cast<std::size_t>(rank)]) {
      const int off = topology.same_node(rank, m.to) ? 0 : 1;
      counted.messages[off] += 1;
      counted.bytes[off] += m.bytes;
    }
  }
  return counted;
}

Counted booked(const mpi::Comm& comm) {
  Counted counted;
  for (const auto& account : const_cast<mpi::Comm&>(comm).ledger().accounts()) {
    counted.messages[0] += account.counts.messages_on_node;
    counted.messages[1] += account.counts.messages_off_node;
    counted.bytes[0] += account.counts.bytes_on_node;
    counted.bytes[1] += account.counts.bytes_off_node;
  }
  return counted;
}

TEST(SparseExchangeMessages, AreThoseThatRanksSend) {
  const int n = test_comm()->size();
  std::vector<std::vector<int>> maps(3);  // two ranks a node, interleaved nodes, uneven ones
  for (int r = 0; r < n; ++r) {
    maps[0].push_back(r / 2), maps[1].push_back(r % 2), maps[2].push_back(r == 0 ? 1 : 0);
  }
  for (const auto& map : maps) {
    for (const std::string_view algorithm : sparse_exchanges(true)) {
      const bool is_known = algorithm == "known_number";
      const auto comm =
          mpi::Comm::create(MPI_COMM_WORLD, map,
                            {.sparse_exchange = is_known ? "personalized" : std::string(algorithm),
                             .allreduce = "mpi"});
      const std::vector<int> to = destinations(n, comm->rank());
      const std::vector<std::int64_t> data(3 * to.size(), comm->rank());
      comm->ledger().clear();
      comm::SparseOptions options;
      if (is_known) options.n_receives = n_receives(n, comm->rank());
      comm::alltoall_crs<std::int64_t>(*comm, to, 3, data, options);
      const Counted here = booked(*comm);
      const auto all = sparse_exchange_messages(algorithm, comm->topology(), sends_of_all(n, 3));
      const Counted there = predicted(all, comm->topology(), comm->rank());
      for (const int off : {0, 1}) {
        EXPECT_EQ(there.messages[off], here.messages[off]) << algorithm << " " << off;
        EXPECT_EQ(there.bytes[off], here.bytes[off]) << algorithm << " " << off;
      }
    }
  }
}

TEST(SparseExchangeMessages, OfManyRanksHaveTheirCollectives) {
  std::vector<int> nodes;
  for (int r = 0; r < 64; ++r) nodes.push_back(r / 8);
  const mpi::Topology topology(nodes);
  const SparseSends sends = sends_of_all(64, 1);
  const auto stages = [&](const char* algorithm) {
    return sparse_exchange_messages(algorithm, topology, sends).stages;
  };
  // Halving has 6 rounds of 256, 128 .. 8 bytes, doubling 6 of 32.
  const auto personalized = stages("personalized");
  ASSERT_EQ(personalized.size(), 7);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_EQ(personalized[k][5].size(), 1);
    EXPECT_EQ(personalized[k][5][0].bytes, 256 >> k);
  }
  EXPECT_EQ(stages("nonblocking").size(), 2 + 6);
  EXPECT_EQ(stages("rma").size(), 6 + 1 + 6);
  EXPECT_EQ(stages("known_number").size(), 6 + 1);
  EXPECT_EQ(stages("locality_dense").size(), 6 + 1 + 1 + 1);
  EXPECT_EQ(stages("locality_rma").size(), 6 + 1 + 6 + 3 + 1);
  EXPECT_EQ(stages("locality_personalized").size(), 6 + 1 + 3 + 1);
  EXPECT_EQ(stages("locality_nonblocking").size(), 2 + 6 + 2 + 3);
  // At most one message a rank and node crosses the network.
  for (int r = 0; r < 64; ++r) {
    const auto all = sparse_exchange_messages("locality_personalized", topology, sends);
    EXPECT_LE(all.stages[all.of_data[0]][static_cast<std::size_t>(r)].size(), 7);
  }
}

TEST(SparseExchangeMessages, TakeNumbersOfRanksThatAreNoPowersOfTwo) {
  const mpi::Topology topology(std::vector<int>{0, 0, 0, 1, 1, 2, 2});
  const auto stages = sparse_exchange_messages("personalized", topology, sends_of_all(7, 1)).stages;
  // Three ranks give their vectors away, two rounds, and they hear of their own number.
  ASSERT_EQ(stages.size(), 5);
  EXPECT_EQ(stages[0][4][0].to, 0);
  EXPECT_EQ(stages[0][4][0].bytes, 56);
  EXPECT_EQ(stages[3][0][0].to, 4);
  EXPECT_EQ(stages[3][0][0].bytes, 8);
}

/// What one rank sends in all stages; messages without data do not travel.
Counted sent_in(const model::MessageStages& stages, const mpi::Topology& topology, int rank) {
  Counted counted;
  for (const auto& stage : stages) {
    for (const model::SentMessage& m : stage[static_cast<std::size_t>(rank)]) {
      const int off = topology.same_node(rank, m.to) ? 0 : 1;
      counted.messages[off] += m.bytes > 0 ? 1 : 0;
      counted.bytes[off] += m.bytes;
    }
  }
  return counted;
}

/// Without the headers of so many bytes that the messages have.
Counted without_headers(Counted counted, std::int64_t bytes) {
  for (const int off : {0, 1}) counted.bytes[off] -= bytes * counted.messages[off];
  return counted;
}

/// Collective. Runs `work` on every placement, and compares what this rank sends with the formula.
template <class Work, class Compare>
void on_every_map(const mpi::CommSettings& settings, const Work& work, const Compare& compare) {
  for (const test::NodeMap& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank, settings);
    comm->ledger().clear();
    work(*comm);
    const Counted here = booked(*comm);
    const auto& [stages, header] = compare(*comm);
    const Counted there = sent_in(stages, comm->topology(), comm->rank());
    const Counted data = without_headers(here, header);
    for (const int off : {0, 1}) {
      EXPECT_EQ(data.messages[off], there.messages[off]) << off;
      EXPECT_EQ(data.bytes[off], there.bytes[off]) << off;
    }
  }
}

using Expected = std::pair<model::MessageStages, std::int64_t>;  // and the bytes of a header

TEST(CollectiveMessages, OfAllreducesAreThoseThatRanksSend) {
  constexpr std::int64_t n = 40;
  const auto expected = [](const mpi::Comm& comm) -> Expected {
    const std::string name = comm.settings().allreduce.name();
    const mpi::Topology& topology = comm.topology();
    if (name == "node_leaders") return {node_leader_allreduce(topology, 8 * n), 16};
    if (name == "recursive_doubling") return {recursive_doubling(comm.size(), 8 * n), 16};
    return {name == "mpi" ? model::MessageStages{} : node_aware_allreduce(topology, 8 * n), 16};
  };
  for (const mpi::AllreduceMethod& method : mpi::AllreduceMethod::family()) {
    SCOPED_TRACE(*method.name);
    on_every_map(
        {.allreduce = method},
        [](const mpi::Comm& comm) {
          std::vector<double> values(n, 1.0);
          mpi::sum_in_place<double>(comm, std::span<double>(values));
        },
        expected);
  }
}

TEST(CollectiveMessages, OfAllgathersAreThoseThatRanksSend) {
  const int size = test_comm()->size();
  std::vector<std::int64_t> counts, starts, bytes;
  for (int r = 0; r < size; ++r) {
    counts.push_back((5 * r + 3) % 7);  // some have none
    starts.push_back(7 * r);
    bytes.push_back(8 * counts.back());
  }
  const auto expected = [&](const mpi::Comm& comm) -> Expected {
    const std::string name = comm.settings().allgather.name();
    if (name == "ring") return {ring_allgather(bytes), 0};
    if (name == "bruck") return {bruck_allgather(bytes), 0};
    if (name == "mpi") return {{}, 0};
    return {node_aware_allgather(comm.topology(), bytes), 0};
  };
  for (const mpi::AllgatherMethod& method : mpi::AllgatherMethod::family()) {
    SCOPED_TRACE(*method.name);
    if (*method.schedule == nullptr && size == 1) continue;  // alone it is copied
    on_every_map(
        {.allreduce = "mpi", .allgather = method},
        [&](const mpi::Comm& comm) {
          const std::vector<double> mine(7, comm.rank());
          std::vector<double> all(static_cast<std::size_t>(7 * size), -1.0);
          const auto me = static_cast<std::size_t>(comm.rank());
          mpi::collectives::allgatherv(comm, mine.data(), counts[me], MPI_DOUBLE, all.data(),
                                       counts, starts, MPI_DOUBLE);
        },
        expected);
  }
}

TEST(CollectiveMessages, OfAlltoallsAreThoseThatRanksSend) {
  const int size = test_comm()->size();
  const auto expected = [&](const mpi::Comm& comm) -> Expected {
    const std::string name = comm.settings().alltoallv.name();
    if (name == "pairwise") return {pairwise_alltoall(size, 24), 0};
    if (name == "spread_out") return {spread_out_alltoall(size, 24), 0};
    if (name == "mpi") return {{}, 0};
    return {node_aware_alltoall(comm.topology(), 24), 0};
  };
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(size), 3);
  std::vector<std::int64_t> starts;
  for (int r = 0; r < size; ++r) starts.push_back(3 * r);
  for (const mpi::AlltoallvMethod& method : mpi::AlltoallvMethod::family()) {
    SCOPED_TRACE(*method.name);
    on_every_map(
        {.allreduce = "mpi", .alltoallv = method},
        [&](const mpi::Comm& comm) {
          const std::vector<double> mine(static_cast<std::size_t>(3 * size), comm.rank());
          std::vector<double> all(mine.size(), -1.0);
          mpi::collectives::alltoallv(comm, mine.data(), {counts, starts, MPI_DOUBLE}, all.data(),
                                      {counts, starts, MPI_DOUBLE});
        },
        expected);
  }
}

/// What every rank knows after the stages, each knowing itself before.
std::vector<std::vector<bool>> known_after(const model::MessageStages& stages, int n_ranks) {
  const auto n = static_cast<std::size_t>(n_ranks);
  std::vector<std::vector<bool>> known(n, std::vector<bool>(n, false));
  for (std::size_t r = 0; r < n; ++r) known[r][r] = true;
  for (const auto& stage : stages) {
    const auto before = known;
    for (std::size_t r = 0; r < n; ++r) {
      for (const model::SentMessage& m : stage[r]) {
        auto& of_receiver = known[static_cast<std::size_t>(m.to)];
        for (std::size_t k = 0; k < n; ++k) of_receiver[k] = of_receiver[k] || before[r][k];
      }
    }
  }
  return known;
}

TEST(CollectiveMessages, BringEveryRanksNumberToAll) {
  for (const std::vector<int>& nodes :
       {std::vector<int>{0}, std::vector<int>{0, 0, 0}, std::vector<int>{0, 1, 0, 1, 2},
        std::vector<int>{0, 0, 0, 1, 1, 2, 2, 2, 2}}) {
    const mpi::Topology topology(nodes);
    const int n = topology.n_ranks();
    const std::vector<std::int64_t> bytes(static_cast<std::size_t>(n), 8);
    for (const auto& stages :
         {node_leader_allreduce(topology, 8), ring_allgather(bytes), recursive_doubling(n, 8),
          bruck_allgather(bytes), halving_allreduce(n, 8), pairwise_alltoall(n, 8),
          spread_out_alltoall(n, 8), node_aware_alltoall(topology, 8)}) {
      for (const auto& of_rank : known_after(stages, n)) {
        for (const bool knows : of_rank) EXPECT_TRUE(knows);
      }
    }
  }
}

TEST(CollectiveMessages, OfNodeLeadersHaveOneRankANodeOnTheNetwork) {
  const mpi::Topology topology(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3});
  const auto stages = node_leader_allreduce(topology, 8);
  EXPECT_EQ(stages.size(), 2 + 2 + 2);
  for (const auto& stage : stages) {
    for (int r = 0; r < 16; ++r) {
      for (const model::SentMessage& m : stage[static_cast<std::size_t>(r)]) {
        EXPECT_EQ(m.bytes, 8);
        if (!topology.same_node(r, m.to)) {
          EXPECT_EQ(r % 4 + m.to % 4, 0);
        }
      }
    }
  }
}

TEST(SparseExchangeMessages, RefusesWhatItDoesNotKnow) {
  const mpi::Topology topology(std::vector<int>{0, 1});
  EXPECT_THROW(sparse_exchange_messages("automatic", topology, SparseSends(2)), Error);
  EXPECT_THROW(sparse_exchange_messages("rma", topology, SparseSends(3)), Error);
}

}  // namespace predict_collectives_test
}  // namespace nodewise::predict
