// The placement of ranks on nodes, of any number of virtual ranks.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/mpi/topology.hpp"

#include "support.hpp"

namespace nodewise::test {
namespace {

std::vector<int> on(const mpi::Topology& topology, int node) {
  const std::span<const int> ranks = topology.ranks_on(node);
  return {ranks.begin(), ranks.end()};
}

TEST(Topology, TheLastNodeMayBePartlyFilled) {
  const std::vector<int> map = {0, 0, 0, 1, 1, 1, 2};
  const mpi::Topology topology(map);
  EXPECT_EQ(topology.n_ranks(), 7);
  EXPECT_EQ(topology.n_nodes(), 3);
  EXPECT_EQ(on(topology, 0), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(on(topology, 1), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(on(topology, 2), (std::vector<int>{6}));
}

TEST(Topology, RanksMayBeDealtRoundRobinAndUnevenly) {
  const std::vector<int> map = {0, 1, 2, 0, 1, 0};
  const mpi::Topology topology(map);
  EXPECT_EQ(on(topology, 0), (std::vector<int>{0, 3, 5}));
  EXPECT_EQ(on(topology, 1), (std::vector<int>{1, 4}));
  EXPECT_EQ(on(topology, 2), (std::vector<int>{2}));
  EXPECT_TRUE(topology.same_node(0, 5));
  EXPECT_FALSE(topology.same_node(0, 1));
}

TEST(Topology, NodesAreRenumberedByTheirLowestRank) {
  const std::vector<int> map = {1000, 7, 1000, 0, 7};
  const mpi::Topology topology(map);
  EXPECT_EQ(topology.n_nodes(), 3);
  EXPECT_EQ(topology.node(0), 0);
  EXPECT_EQ(topology.node(1), 1);
  EXPECT_EQ(topology.node(2), 0);
  EXPECT_EQ(topology.node(3), 2);
  EXPECT_EQ(topology.node(4), 1);
}

TEST(Topology, EmptyAndDefault) {
  EXPECT_EQ(mpi::Topology().n_nodes(), 0);
  EXPECT_EQ(mpi::Topology().n_ranks(), 0);
  EXPECT_EQ(mpi::Topology(std::vector<int>{}).n_nodes(), 0);
}

TEST(Topology, RefusesNegativeNodes) {
  const std::vector<int> map = {0, -1};
  EXPECT_THROW(mpi::Topology{map}, Error);
}

TEST(Topology, GroupsArePartitionsForEveryMap) {
  for (const int n_ranks : {1, 2, 5, 16, 1000}) {
    for (const NodeMap& map : node_maps(n_ranks)) {
      const mpi::Topology topology(map.node_of_rank);
      std::set<int> seen;
      for (int node = 0; node < topology.n_nodes(); ++node) {
        const std::vector<int> ranks = on(topology, node);
        EXPECT_FALSE(ranks.empty()) << map.name;
        EXPECT_TRUE(std::is_sorted(ranks.begin(), ranks.end())) << map.name;
        for (const int rank : ranks) {
          EXPECT_EQ(topology.node(rank), node) << map.name;
          EXPECT_TRUE(seen.insert(rank).second) << map.name;
        }
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(n_ranks)) << map.name;
    }
  }
}

}  // namespace
}  // namespace nodewise::test
