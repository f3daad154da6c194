// The test harness itself: what all the other tests rely on.
#include "support.hpp"

#include <set>

#include <gtest/gtest.h>

#include "nodewise/mpi/topology.hpp"

namespace nodewise::test {
namespace support_test {

TEST(Support, TestCommSpansTheWholeRun) {
  int world_size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  EXPECT_EQ(test_comm()->size(), world_size);
  EXPECT_EQ(mpi::sum(*test_comm(), 1), world_size);
}

TEST(Support, NodeMapsAreDistinctPlacementsOfAllRanks) {
  for (const int n_ranks : {1, 2, 3, 4, 6, 8, 13}) {
    std::set<std::vector<int>> seen;
    for (const NodeMap& map : node_maps(n_ranks)) {
      EXPECT_EQ(static_cast<int>(map.node_of_rank.size()), n_ranks) << map.name;
      EXPECT_TRUE(seen.insert(map.node_of_rank).second) << map.name;
    }
  }
}

TEST(Support, NodeMapsHaveAPartlyFilledLastNodeAndNodesThatInterleave) {
  for (const int n_ranks : {3, 4, 6, 8, 13}) {
    bool partly_filled = false;
    bool interleaved = false;
    for (const NodeMap& map : node_maps(n_ranks)) {
      const mpi::Topology topology(map.node_of_rank);
      const int last = topology.n_nodes() - 1;
      partly_filled |= last > 0 && topology.ranks_on(last).size() < topology.ranks_on(0).size();
      interleaved |= topology.same_node(0, 2) && !topology.same_node(0, 1);
    }
    EXPECT_TRUE(partly_filled) << n_ranks;
    EXPECT_TRUE(interleaved) << n_ranks;
  }
}

}  // namespace support_test
}  // namespace nodewise::test
