// The pairs of ranks that measure messages between them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nodewise/mpi/topology.hpp"

namespace nodewise::calibrate {

using RankPair = std::pair<int, int>;

/// Local. At most three pairs of ranks, the nodes they are on spread over all, of a locality:
/// same_socket (where nodes are divided into domains), same_node (different domains where nodes are
/// divided), other_node. Empty where there is no such pair.
std::vector<RankPair> pairs_of(const mpi::Topology& topology, const std::string& locality);

/// Local. Pairs of the first ranks of two nodes, as many as the smaller of both has.
std::vector<RankPair> pairs_between(const mpi::Topology& topology, int node_a, int node_b);

/// Local. A pair for what depends little on where its ranks are: of one node, or else of two.
/// Empty where there is one rank.
std::vector<RankPair> any_pair(const mpi::Topology& topology, std::string& locality);

}  // namespace nodewise::calibrate
