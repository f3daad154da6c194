#include "nodewise/amg/redistribute/copy_holders.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace nodewise::amg {

std::optional<int> only_holder(std::span<const GlobalIndex> starts) {
  std::optional<int> holder;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    if (starts[r] == starts[r + 1]) continue;
    if (holder) return std::nullopt;
    holder = static_cast<int>(r);
  }
  return holder;
}

std::vector<int> ranks_of_level(std::span<const GlobalIndex> starts, int level) {
  std::vector<int> ranks(starts.size() - 1);
  std::iota(ranks.begin(), ranks.end(), 0);
  if (level == 0) return ranks;
  std::erase_if(ranks, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return starts[r] == starts[r + 1];
  });
  return ranks;
}

std::vector<int> holders_of_copies(const mpi::Topology& topology, std::span<const int> ranks,
                                   int owner) {
  std::vector<int> of_node(static_cast<std::size_t>(topology.n_nodes()), -1);
  of_node[static_cast<std::size_t>(topology.node(owner))] = owner;
  std::vector<int> holders(static_cast<std::size_t>(topology.n_ranks()), -1);
  for (const int rank : ranks) {
    int& holder = of_node[static_cast<std::size_t>(topology.node(rank))];
    if (holder < 0) holder = rank;
    holders[static_cast<std::size_t>(rank)] = holder;
  }
  return holders;
}

std::vector<int> ranks_with_copies(std::span<const int> holders) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < holders.size(); ++r) {
    if (holders[r] == static_cast<int>(r)) ranks.push_back(holders[r]);
  }
  return ranks;
}

std::vector<GlobalIndex> starts_of_copies(std::span<const int> holders, GlobalIndex rows) {
  std::vector<GlobalIndex> starts = {0};
  for (std::size_t r = 0; r < holders.size(); ++r) {
    starts.push_back(starts.back() + (holders[r] == static_cast<int>(r) ? rows : 0));
  }
  return starts;
}

}  // namespace nodewise::amg
