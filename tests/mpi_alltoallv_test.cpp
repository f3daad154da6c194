// Alltoallv and allgather by MPI's own and by the node-aware algorithms.
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/collectives/allgather.hpp"
#include "nodewise/mpi/collectives/alltoallv.hpp"
#include "nodewise/mpi/collectives/pair_map.hpp"
#include "nodewise/mpi/collectives/schedule.hpp"

#include "collective_error.hpp"
#include "mpi_counter.hpp"
#include "support.hpp"
#include "virtual_exchange.hpp"

namespace nodewise::mpi::collectives {
namespace mpi_alltoallv_test {

/// Algorithms for both.
using Algorithms = std::pair<Choice<AllgatherMethod>, Choice<AlltoallvMethod>>;

/// As many pairs as bring every algorithm of each in.
std::vector<Algorithms> all_algorithms() {
  std::vector<Algorithms> all = {{"automatic", "automatic"}};
  const auto& gatherings = AllgatherMethod::family();
  const auto& exchanges = AlltoallvMethod::family();
  for (std::size_t k = 0; k < std::max(gatherings.size(), exchanges.size()); ++k) {
    all.push_back({gatherings[k % gatherings.size()], exchanges[k % exchanges.size()]});
  }
  return all;
}
const std::vector<Algorithms> algorithms = all_algorithms();
const Algorithms node_aware = {"node_aware", "node_aware"};

/// Collective. Runs `work` on every placement of the ranks.
void on_every_map(const Algorithms& algorithm, const std::function<void(const Comm&)>& work) {
  CommSettings settings;
  std::tie(settings.allgather, settings.alltoallv) = algorithm;
  settings.allreduce = "mpi";  // so that checks send nothing themselves
  for (const test::NodeMap& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    work(*Comm::create(MPI_COMM_WORLD, map.node_of_rank, settings));
  }
}

std::vector<int> ints(const std::vector<Offset>& values) {
  return {values.begin(), values.end()};
}

/// Starts of blocks that lie in no order, with gaps: backwards, three elements apart.
std::vector<Offset> scattered(const std::vector<Offset>& counts) {
  std::vector<Offset> starts(counts.size());
  Offset next = 1;
  for (std::size_t r = counts.size(); r-- > 0;) {
    starts[r] = next;
    next += counts[r] + 3;
  }
  return starts;
}

std::size_t end_of(const std::vector<Offset>& counts) {
  return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Offset{4},
                                                  [](Offset a, Offset b) { return a + b + 3; }));
}

/// How many elements rank `from` sends to rank `to`: many none, some a lot.
Offset count_of(int from, int to, std::uint64_t seed) {
  const std::uint64_t h = hash64(static_cast<std::uint64_t>(from * 64 + to), seed);
  if (seed == 0) return 0;
  return h % 3 == 0 ? 0 : static_cast<Offset>(h % (h % 5 == 0 ? 3000 : 9));
}

struct Arrays {
  std::vector<Offset> send_counts, receive_counts, send_starts, receive_starts;
  std::vector<double> send, receive;

  Arrays(const Comm& comm, std::uint64_t seed) {
    for (int r = 0; r < comm.size(); ++r) {
      send_counts.push_back(count_of(comm.rank(), r, seed));
      receive_counts.push_back(count_of(r, comm.rank(), seed));
    }
    send_starts = scattered(send_counts);
    receive_starts = scattered(receive_counts);
    for (std::size_t k = 0; k < end_of(send_counts); ++k) {
      send.push_back(hash_uniform(k, static_cast<std::uint64_t>(comm.rank())));
    }
    receive.assign(end_of(receive_counts), -1.0);
  }
  Side sends() const { return {send_counts, send_starts, MPI_DOUBLE}; }
  Side receives() const { return {receive_counts, receive_starts, MPI_DOUBLE}; }
  std::vector<double> by_mpi() const {
    std::vector<double> result(receive.size(), -1.0);
    MPI_Alltoallv(send.data(), ints(send_counts).data(), ints(send_starts).data(), MPI_DOUBLE,
                  result.data(), ints(receive_counts).data(), ints(receive_starts).data(),
                  MPI_DOUBLE, MPI_COMM_WORLD);
    return result;
  }
};

TEST(Alltoallv, EqualsMpi) {
  for (const Algorithms& algorithm : algorithms) {
    on_every_map(algorithm, [](const Comm& comm) {
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        Arrays a(comm, seed);
        alltoallv(comm, a.send.data(), a.sends(), a.receive.data(), a.receives());
        EXPECT_EQ(a.receive, a.by_mpi()) << seed;
      }
    });
  }
}

TEST(Alltoallv, InPlace) {
  for (const Algorithms& algorithm : algorithms) {
    on_every_map(algorithm, [](const Comm& comm) {
      std::vector<Offset> counts;  // what goes and comes must be equally long
      for (int r = 0; r < comm.size(); ++r) counts.push_back((3 * (r + comm.rank())) % 5);
      const std::vector<Offset> starts = scattered(counts);
      std::vector<int> values(end_of(counts));
      for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<int>(k) + 1000 * comm.rank();
      }
      std::vector<int> expected = values;
      MPI_Alltoallv(values.data(), ints(counts).data(), ints(starts).data(), MPI_INT,
                    expected.data(), ints(counts).data(), ints(starts).data(), MPI_INT,
                    MPI_COMM_WORLD);
      const Side side{counts, starts, MPI_INT};
      alltoallv(comm, MPI_IN_PLACE, side, values.data(), side);
      EXPECT_EQ(values, expected);
    });
  }
}

// One number of two sent, as pairs with a gap received.
TEST(Alltoallv, DatatypesWithGaps) {
  MPI_Datatype one = MPI_DATATYPE_NULL, gap = MPI_DATATYPE_NULL;
  MPI_Type_vector(1, 1, 1, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, 8, &gap);
  MPI_Type_commit(&gap);
  for (const Algorithms& algorithm : algorithms) {
    on_every_map(algorithm, [&](const Comm& comm) {
      const auto p = static_cast<std::size_t>(comm.size());
      const std::vector<Offset> counts(p, 3);
      std::vector<Offset> starts(p);
      for (std::size_t r = 0; r < p; ++r) starts[r] = static_cast<Offset>(3 * r);
      std::vector<int> send(6 * p), receive(6 * p, -1), back(6 * p, -1), expected(6 * p, -1);
      std::iota(send.begin(), send.end(), 100 * comm.rank());
      const std::vector<int> c = ints(counts), s = ints(starts);
      MPI_Alltoallv(send.data(), c.data(), s.data(), gap, expected.data(), c.data(), s.data(), gap,
                    MPI_COMM_WORLD);
      const Side sparse{counts, starts, gap};
      alltoallv(comm, send.data(), sparse, receive.data(), sparse);
      EXPECT_EQ(receive, expected);
      alltoallv(comm, receive.data(), sparse, back.data(), sparse);  // there and back
      for (std::size_t k = 0; k < back.size(); ++k) {
        EXPECT_EQ(back[k], k % 2 == 0 ? send[k] : -1);
      }
      EXPECT_EQ(test::error_of([&] {
                  alltoallv(comm, MPI_IN_PLACE, sparse, receive.data(), sparse);
                }).has_value(),
                false);
      for (std::size_t k = 0; k < back.size(); ++k) {
        EXPECT_EQ(receive[k], k % 2 == 0 ? send[k] : -1);
      }
    });
  }
  MPI_Type_free(&gap);
  MPI_Type_free(&one);
}

TEST(Alltoallv, ManyCallsDoNotMix) {
  on_every_map(node_aware, [](const Comm& comm) {
    for (std::uint64_t call = 0; call < 40; ++call) {
      Arrays a(comm, call % 4);
      alltoallv(comm, a.send.data(), a.sends(), a.receive.data(), a.receives());
      EXPECT_EQ(a.receive, a.by_mpi());
    }
  });
}

TEST(Alltoallv, AnErrorOnOneRankIsEverybodys) {
  for (const Algorithms& algorithm : algorithms) {
    on_every_map(algorithm, [](const Comm& comm) {
      const int bad = comm.size() - 1;
      const bool here = comm.rank() == bad;
      const std::string where = comm.size() == 1 ? "" : "rank " + std::to_string(bad) + ": ";
      const auto fails = [&](const Arrays& a, const void* send, void* receive) {
        return test::expect_same_error(comm, ErrorCode::invalid_argument, [&] {
          alltoallv(comm, send, a.sends(), receive, a.receives());
        });
      };
      Arrays a(comm, 2);
      if (here) a.send_counts[0] = -2;
      EXPECT_EQ(fails(a, a.send.data(), a.receive.data()), where + "alltoallv: a count of -2");
      Arrays b(comm, 2);
      b.receive_counts[0] += here ? 1 : 0;
      EXPECT_EQ(fails(b, b.send.data(), b.receive.data()),
                "alltoallv: what a rank sends is not what another expects, or the ranks name "
                "different algorithms");
      Arrays c(comm, 2);
      if (here) c.receive_counts.pop_back();
      EXPECT_EQ(fails(c, c.send.data(), c.receive.data()),
                where + "alltoallv: there must be one count and one start for each rank");
      Arrays good(comm, 2);
      alltoallv(comm, good.send.data(), good.sends(), good.receive.data(), good.receives());
      EXPECT_EQ(good.receive, good.by_mpi());
    });
  }
}

// One message between nodes for each pair, direction and part that has data; nothing crosses twice.
TEST(Alltoallv, SendsOneMessageAPairOfNodes) {
  on_every_map(node_aware, [](const Comm& comm) {
    const Topology& topology = comm.topology();
    std::vector<int> nodes;
    for (int r = 0; r < comm.size(); ++r) nodes.push_back(topology.node(r));
    for (const std::uint64_t seed : {0U, 1U, 3U}) {
      const PairMap map(topology);
      const int here = topology.node(comm.rank());
      std::int64_t messages = 0, bytes = 0;
      for (const Share& share : map.shares_of_node(here)) {
        if (map.carrier(here, share.node, share.part) != comm.rank()) continue;
        Offset data = 0;
        for (const int from : topology.ranks_on(here)) {
          for (const int place : map.places(share.node, here, share.part)) {
            const auto at = static_cast<std::size_t>(place);
            data += 8 * count_of(from, topology.ranks_on(share.node)[at], seed);
          }
        }
        messages += data > 0 ? 1 : 0;
        bytes += data;
      }
      Arrays a(comm, seed);
      const test::MpiCalls calls = test::counted(nodes, [&] {
        alltoallv(comm, a.send.data(), a.sends(), a.receive.data(), a.receives());
      });
      EXPECT_EQ(calls.messages_off_node, messages);
      EXPECT_EQ(calls.bytes_off_node, bytes);
    }
  });
}

TEST(PairMap, SharesOutThePairsOfAnyTopology) {
  test::Dice dice(5);
  for (int k = 0; k < 300; ++k) {
    const Topology topology = test::random_topology(1 + dice.below(40), dice);
    const PairMap map(topology);
    std::map<std::pair<int, int>, std::set<std::pair<int, int>>> between;
    for (int node = 0; node < topology.n_nodes(); ++node) {
      std::map<int, int> load;
      for (const int rank : topology.ranks_on(node)) load[rank] = 0;
      std::map<int, std::set<int>> places;
      for (const Share& share : map.shares_of_node(node)) {
        ASSERT_NE(share.node, node);
        const int mine = map.carrier(node, share.node, share.part);
        ASSERT_EQ(topology.node(mine), node);
        ++load.at(mine);
        for (const int place : map.places(share.node, node, share.part)) {
          ASSERT_TRUE(places[share.node].insert(place).second);
        }
        const int theirs = map.carrier(share.node, node, share.part);
        ASSERT_TRUE((between[{node, share.node}].insert({mine, theirs}).second));
        ASSERT_EQ(map.n_parts(node, share.node), map.n_parts(share.node, node));
      }
      for (const auto& [other, seen] : places) {  // every destination in one part
        ASSERT_EQ(seen.size(), topology.ranks_on(other).size());
      }
      int least = 1 << 30, most = 0;
      for (const auto& [rank, n] : load) {
        least = std::min(least, n);
        most = std::max(most, n);
      }
      ASSERT_LE(most - least, 1);
    }
    for (const auto& [nodes, pairs] : between) {  // both directions take the same ranks
      for (const auto& [a, b] : pairs) {
        ASSERT_TRUE((between[{nodes.second, nodes.first}].contains({b, a})));
      }
    }
  }
}

/// Blocks of 0 to 6 elements; in the second kind a single rank has any.
std::vector<Offset> block_lengths(int n_ranks, int kind) {
  std::vector<Offset> counts;
  for (int r = 0; r < n_ranks; ++r) {
    counts.push_back(kind == 2 ? 0 : kind == 1 ? (r == n_ranks - 1 ? 5 : 0) : (5 * r + 3) % 7);
  }
  return counts;
}

TEST(Allgather, PutsEveryBlockInItsPlace) {
  for (const Algorithms& algorithm : algorithms) {
    on_every_map(algorithm, [](const Comm& comm) {
      for (int kind = 0; kind < 3; ++kind) {
        const std::vector<Offset> counts = block_lengths(comm.size(), kind);
        const std::vector<Offset> starts = scattered(counts);
        const auto me = static_cast<std::size_t>(comm.rank());
        std::vector<double> mine;
        for (Offset k = 0; k < counts[me]; ++k) {
          mine.push_back(static_cast<double>(100 * comm.rank() + k));
        }
        std::vector<double> result(end_of(counts), -1.0), expected = result;
        for (std::size_t r = 0; r < counts.size(); ++r) {
          for (Offset k = 0; k < counts[r]; ++k) {
            expected[static_cast<std::size_t>(starts[r] + k)] =
                static_cast<double>(100 * static_cast<Offset>(r) + k);
          }
        }
        allgatherv(comm, mine.data(), counts[me], MPI_DOUBLE, result.data(), counts, starts,
                   MPI_DOUBLE);
        EXPECT_EQ(result, expected);
        std::vector<double> in_place(end_of(counts), -1.0);
        std::copy(mine.begin(), mine.end(), in_place.begin() + starts[me]);
        allgatherv(comm, MPI_IN_PLACE, 0, MPI_DOUBLE, in_place.data(), counts, starts, MPI_DOUBLE);
        EXPECT_EQ(in_place, expected);
      }
      std::vector<std::int64_t> all(static_cast<std::size_t>(2 * comm.size()));
      const std::vector<std::int64_t> two = {comm.rank(), -comm.rank()};
      allgather(comm, two.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T);
      for (int r = 0; r < comm.size(); ++r) {
        EXPECT_EQ(all[static_cast<std::size_t>(2 * r)], r);
        EXPECT_EQ(all[static_cast<std::size_t>(2 * r + 1)], -r);
      }
    });
  }
}

TEST(Allgather, DatatypesWithGaps) {
  on_every_map(node_aware, [](const Comm& comm) {
    struct Pair {
      double value;
      int place;
    };
    const Pair mine[] = {{1.5, comm.rank()}, {2.5, -comm.rank()}};
    std::vector<Pair> all(static_cast<std::size_t>(2 * comm.size()));
    allgather(comm, mine, 2, MPI_DOUBLE_INT, all.data(), 2, MPI_DOUBLE_INT);
    for (int r = 0; r < comm.size(); ++r) {
      const auto at = static_cast<std::size_t>(2 * r);
      EXPECT_EQ(all[at].value, 1.5);
      EXPECT_EQ(all[at].place, r);
      EXPECT_EQ(all[at + 1].value, 2.5);
      EXPECT_EQ(all[at + 1].place, -r);
    }
  });
}

TEST(Allgather, AnErrorOnOneRankIsEverybodys) {
  for (const Algorithms& algorithm : algorithms) {
    on_every_map(algorithm, [](const Comm& comm) {
      const bool here = comm.rank() == comm.size() - 1;
      std::vector<int> all(static_cast<std::size_t>(8 * comm.size()), 3);
      const std::vector<int> mine(4, comm.rank());
      const auto fails = [&](Offset n, Offset count, void* to) {
        return test::expect_same_error(comm, ErrorCode::invalid_argument, [&] {
          allgather(comm, mine.data(), n, MPI_INT, to, count, MPI_INT);
        });
      };
      fails(here ? -1 : 2, 2, all.data());
      fails(here ? 3 : 2, 2, all.data());
      fails(2, 2, here ? nullptr : all.data());
      if (comm.size() > 1) {
        EXPECT_EQ(fails(here ? 3 : 2, here ? 3 : 2, all.data()),
                  "allgather: the ranks give different lengths of the blocks, or algorithms");
      }
      EXPECT_EQ(all, std::vector<int>(all.size(), 3));
      allgather(comm, mine.data(), 1, MPI_INT, all.data(), 1, MPI_INT);
      EXPECT_EQ(all[static_cast<std::size_t>(comm.size() - 1)], comm.size() - 1);
    });
  }
}

// Every block enters every node once, and messages are those of the schedule.
TEST(Allgather, EveryBlockEntersEveryNodeOnce) {
  on_every_map(node_aware, [](const Comm& comm) {
    const Topology& topology = comm.topology();
    std::vector<int> nodes;
    for (int r = 0; r < comm.size(); ++r) nodes.push_back(topology.node(r));
    std::vector<double> all(static_cast<std::size_t>(10 * comm.size()));
    const std::vector<double> mine(10, 1.0);
    const test::MpiCalls calls = test::counted(
        nodes, [&] { allgather(comm, mine.data(), 10, MPI_DOUBLE, all.data(), 10, MPI_DOUBLE); });
    const Schedule schedule = make_schedule(topology, comm.rank());
    const MessageCounts counts = count_messages(schedule, topology, comm.rank());
    EXPECT_EQ(calls.messages_off_node, counts.off_node);
    EXPECT_EQ(calls.messages_on_node, counts.on_node);
    EXPECT_EQ(sum(comm, calls.bytes_off_node), 80 * comm.size() * (topology.n_nodes() - 1));
  });
}

TEST(Allgather, ManyCallsDoNotMix) {
  on_every_map(node_aware, [](const Comm& comm) {
    for (int call = 0; call < 60; ++call) {
      const auto n = static_cast<std::size_t>(call % 4);
      std::vector<int> all(n * static_cast<std::size_t>(comm.size()));
      const std::vector<int> mine(n, call + comm.rank());
      allgather(comm, mine.data(), std::ssize(mine), MPI_INT, all.data(), std::ssize(mine),
                MPI_INT);
      for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_EQ(all[k], call + static_cast<int>(k / n));
      }
    }
  });
}

TEST(AlltoallvChoice, GrowsWithTheMessagesThatARankIsSpared) {
  const auto limit = [](int nodes, int ranks) {
    std::vector<int> node_of_rank;
    for (int r = 0; r < nodes * ranks; ++r) node_of_rank.push_back(r / ranks);
    return automatic_alltoallv_bytes(Topology(node_of_rank));
  };
  EXPECT_EQ(limit(1, 16), 0);
  EXPECT_EQ(limit(2, 16), 0);   // 16 messages straight, 1 joined
  EXPECT_EQ(limit(4, 4), 0);    // 12 and 1
  EXPECT_EQ(limit(8, 4), 264);  // 28 and 2
  EXPECT_EQ(limit(4, 16), 768);
  EXPECT_EQ(limit(8, 16), 1024);
  EXPECT_EQ(limit(64, 1), 0);  // nothing is joined
}

}  // namespace mpi_alltoallv_test
}  // namespace nodewise::mpi::collectives
