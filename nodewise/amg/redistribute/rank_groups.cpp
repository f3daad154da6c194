#include "nodewise/amg/redistribute/rank_groups.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace nodewise::amg {

namespace {

/// The ranks of each node that have rows, in their order, nodes in the order of their first; those
/// without are left out.
std::vector<std::vector<int>> active_ranks_by_node(const mpi::Topology& topology,
                                                   std::span<const GlobalIndex> rows) {
  std::vector<std::vector<int>> nodes(static_cast<std::size_t>(topology.n_nodes()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const int rank = static_cast<int>(r);
    if (rows[r] > 0) nodes[static_cast<std::size_t>(topology.node(rank))].push_back(rank);
  }
  std::erase_if(nodes, [](const std::vector<int>& ranks) { return ranks.empty(); });
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// Cuts n things into `groups`, the first n mod groups one larger; f(group's first, its end).
template <class F>
void for_each_group(std::size_t n, std::size_t groups, const F& f) {
  std::size_t begin = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t end = begin + n / groups + (g < n % groups ? 1 : 0);
    f(begin, end);
    begin = end;
  }
}

/// How many groups each node gets, where there are enough for all: one more at a time to the node
/// whose groups are largest.
std::vector<std::size_t> groups_by_node(const std::vector<std::vector<int>>& nodes,
                                        std::size_t n_groups) {
  std::vector<std::size_t> groups(nodes.size(), 1);
  // Ranks a group, and the node, of which the first wins a tie.
  using Entry = std::pair<double, std::ptrdiff_t>;
  std::priority_queue<Entry> largest;
  const auto enter = [&](std::size_t node) {
    largest.emplace(static_cast<double>(nodes[node].size()) / static_cast<double>(groups[node]),
                    -static_cast<std::ptrdiff_t>(node));
  };
  for (std::size_t node = 0; node < nodes.size(); ++node) enter(node);
  for (std::size_t k = nodes.size(); k < n_groups; ++k) {
    const auto node = static_cast<std::size_t>(-largest.top().second);
    largest.pop();
    ++groups[node];
    enter(node);
  }
  return groups;
}

}  // namespace

std::vector<int> holders_of_rows(const mpi::Topology& topology, std::span<const GlobalIndex> rows,
                                 int n_groups) {
  std::vector<int> holders(rows.size());
  std::iota(holders.begin(), holders.end(), 0);
  const std::vector<std::vector<int>> nodes = active_ranks_by_node(topology, rows);
  const auto n = static_cast<std::size_t>(n_groups);
  const auto give = [&](const std::vector<int>& ranks, std::size_t begin, std::size_t end,
                        int holder) {
    for (std::size_t k = begin; k < end; ++k) holders[static_cast<std::size_t>(ranks[k])] = holder;
  };
  if (n < nodes.size()) {
    for_each_group(nodes.size(), n, [&](std::size_t begin, std::size_t end) {
      for (std::size_t node = begin; node < end; ++node) {
        give(nodes[node], 0, nodes[node].size(), nodes[begin].front());
      }
    });
    return holders;
  }
  const std::vector<std::size_t> groups = groups_by_node(nodes, n);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const std::vector<int>& ranks = nodes[node];
    for_each_group(ranks.size(), groups[node], [&](std::size_t begin, std::size_t end) {
      give(ranks, begin, end, ranks[begin]);
    });
  }
  return holders;
}

}  // namespace nodewise::amg
