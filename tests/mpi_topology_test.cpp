// The placement of ranks on nodes, of any number of virtual ranks.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/mpi/topology.hpp"

#include "domain_support.hpp"
#include "support.hpp"

namespace nodewise::test {
namespace mpi_topology_test {

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

std::vector<int> domains_of(const mpi::Topology& topology) {
  std::vector<int> domains;
  for (int r = 0; r < topology.n_ranks(); ++r) domains.push_back(topology.domains().node(r));
  return domains;
}

TEST(Domains, AreRenumberedAndLieInOneNode) {
  // Node 0 has the ranks 0, 2, 3, node 1 the ranks 1, 4; both name a domain 9.
  const mpi::Topology topology =
      mpi::Topology(std::vector<int>{5, 3, 5, 5, 3}).with_domains(std::vector<int>{9, 9, 0, 9, 0});
  EXPECT_TRUE(topology.has_domains());
  EXPECT_EQ(topology.n_nodes(), 2);
  EXPECT_EQ(topology.domains().n_nodes(), 4);
  EXPECT_EQ(domains_of(topology), (std::vector<int>{0, 1, 2, 0, 3}));
  EXPECT_EQ(on(topology.domains(), 0), (std::vector<int>{0, 3}));
  EXPECT_TRUE(topology.same_domain(0, 3));
  EXPECT_FALSE(topology.same_domain(0, 1));
  EXPECT_FALSE(topology.same_domain(0, 2));
  EXPECT_TRUE(topology.same_node(0, 2));
}

TEST(Domains, AreTheNodesWhereNoNodeIsDivided) {
  const mpi::Topology nodes(std::vector<int>{0, 0, 1, 1});
  EXPECT_FALSE(nodes.has_domains());
  EXPECT_EQ(&nodes.domains(), &nodes);
  const mpi::Topology whole = nodes.with_domains(std::vector<int>{8, 8, 2, 2});
  EXPECT_FALSE(whole.has_domains());
  EXPECT_TRUE(whole.same_domain(0, 1));
  // Domains given anew replace those before.
  const mpi::Topology divided = nodes.with_domains(std::vector<int>{0, 1, 0, 0});
  EXPECT_TRUE(divided.has_domains());
  EXPECT_FALSE(divided.with_domains(std::vector<int>{1, 1, 1, 1}).has_domains());
  EXPECT_FALSE(mpi::Topology().with_domains({}).has_domains());
}

TEST(Domains, AreRefusedWhereNegativeOrOfAnotherNumber) {
  const mpi::Topology nodes(std::vector<int>{0, 0, 1});
  EXPECT_THROW(nodes.with_domains(std::vector<int>{0, -1, 0}), Error);
  EXPECT_THROW(nodes.with_domains(std::vector<int>{0, 0}), Error);
}

TEST(Domains, PartitionTheNodesForEveryMap) {
  for (const int n_ranks : {2, 5, 16, 1000}) {
    for (const DomainMap& map : domain_maps(n_ranks)) {
      const mpi::Topology& domains = map.topology.domains();
      EXPECT_GT(domains.n_nodes(), map.topology.n_nodes()) << map.name;
      for (int domain = 0; domain < domains.n_nodes(); ++domain) {
        for (const int rank : domains.ranks_on(domain)) {
          EXPECT_TRUE(map.topology.same_node(rank, domains.ranks_on(domain).front())) << map.name;
        }
      }
    }
  }
}

}  // namespace mpi_topology_test
}  // namespace nodewise::test
