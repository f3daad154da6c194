#include "nodewise/mpi/collectives/pair_map.hpp"

#include <algorithm>

namespace nodewise::mpi::collectives {

int PairMap::ranks_a_partner(int node) const {
  const auto n_ranks = static_cast<int>(topology_.ranks_on(node).size());
  return std::max(1, n_ranks / std::max(1, topology_.n_nodes() - 1));
}

int PairMap::n_parts(int a, int b) const {
  return std::min(ranks_a_partner(a), ranks_a_partner(b));
}

int PairMap::carrier(int here, int there, int part) const {
  const int n_nodes = topology_.n_nodes();
  // Counted from the node itself, so that not all nodes turn to the same one first.
  const int number = (there - here - 1 + n_nodes) % n_nodes;
  const auto ranks = topology_.ranks_on(here);
  const int place = number * ranks_a_partner(here) + part;
  return ranks[static_cast<std::size_t>(place) % ranks.size()];
}

std::vector<int> PairMap::places(int node, int other, int part) const {
  std::vector<int> result;
  const auto n_ranks = static_cast<int>(topology_.ranks_on(node).size());
  for (int place = part; place < n_ranks; place += n_parts(node, other)) result.push_back(place);
  return result;
}

std::vector<Share> PairMap::shares_of_node(int node) const {
  std::vector<Share> shares;
  const int n_nodes = topology_.n_nodes();
  for (int k = 1; k < n_nodes; ++k) {
    const int other = (node + k) % n_nodes;
    for (int part = 0; part < n_parts(node, other); ++part) shares.push_back({other, part});
  }
  return shares;
}

}  // namespace nodewise::mpi::collectives
