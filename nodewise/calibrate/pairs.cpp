#include "nodewise/calibrate/pairs.hpp"

#include <algorithm>
#include <span>

namespace nodewise::calibrate {

namespace {

constexpr std::size_t most_pairs = 3;

/// The first pair of ranks of a node that are, or are not, of one domain.
std::vector<RankPair> pair_on_node(const mpi::Topology& topology, int node, bool one_domain) {
  const std::span<const int> ranks = topology.ranks_on(node);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t j = i + 1; j < ranks.size(); ++j) {
      if (topology.same_domain(ranks[i], ranks[j]) == one_domain) return {{ranks[i], ranks[j]}};
    }
  }
  return {};
}

/// The first, the last and the one between.
std::vector<RankPair> spread(const std::vector<RankPair>& pairs) {
  if (pairs.size() <= most_pairs) return pairs;
  return {pairs.front(), pairs[pairs.size() / 2], pairs.back()};
}

}  // namespace

std::vector<RankPair> pairs_of(const mpi::Topology& topology, const std::string& locality) {
  std::vector<RankPair> pairs;
  if (locality == "other_node") {
    for (int node = 1; node < topology.n_nodes(); ++node) {
      pairs.emplace_back(topology.ranks_on(0)[0], topology.ranks_on(node)[0]);
    }
    return spread(pairs);
  }
  const bool one_domain = locality == "same_socket" || !topology.has_domains();
  if (locality == "same_socket" && !topology.has_domains()) return {};
  for (int node = 0; node < topology.n_nodes(); ++node) {
    for (const RankPair& pair : pair_on_node(topology, node, one_domain)) pairs.push_back(pair);
  }
  return spread(pairs);
}

std::vector<RankPair> pairs_between(const mpi::Topology& topology, int node_a, int node_b) {
  const std::span<const int> a = topology.ranks_on(node_a);
  const std::span<const int> b = topology.ranks_on(node_b);
  std::vector<RankPair> pairs;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) pairs.emplace_back(a[k], b[k]);
  return pairs;
}

std::vector<RankPair> any_pair(const mpi::Topology& topology, std::string& locality) {
  for (const char* name : {"same_node", "same_socket", "other_node"}) {
    const std::vector<RankPair> pairs = pairs_of(topology, name);
    if (pairs.empty()) continue;
    locality = name;
    return {pairs.front()};
  }
  return {};
}

}  // namespace nodewise::calibrate
