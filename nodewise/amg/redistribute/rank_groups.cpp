#include "nodewise/amg/redistribute/rank_groups.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "nodewise/amg/redistribute/group_method.hpp"

namespace nodewise::amg {

namespace {

using Ranks = std::vector<int>;

/// These ranks by node (or domain, in a topology of these), in their order, nodes in the order of
/// their first.
std::vector<Ranks> by_node(const mpi::Topology& topology, const Ranks& ranks) {
  std::vector<Ranks> nodes(static_cast<std::size_t>(topology.n_nodes()));
  for (const int rank : ranks) nodes[static_cast<std::size_t>(topology.node(rank))].push_back(rank);
  std::erase_if(nodes, [](const Ranks& of_node) { return of_node.empty(); });
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

Ranks active_ranks(std::span<const GlobalIndex> rows) {
  Ranks active;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r] > 0) active.push_back(static_cast<int>(r));
  }
  return active;
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
std::vector<std::size_t> groups_by_node(const std::vector<Ranks>& nodes, std::size_t n_groups) {
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

/// Who holds whose rows, at first all their own.
class Holders {
 public:
  explicit Holders(std::size_t n_ranks) : of_rank_(n_ranks) {
    std::iota(of_rank_.begin(), of_rank_.end(), 0);
  }

  /// Ranks in their order, in so many groups.
  void group(const Ranks& ranks, std::size_t n_groups) {
    for_each_group(ranks.size(), n_groups, [&](std::size_t begin, std::size_t end) {
      give(std::span(ranks).subspan(begin, end - begin), ranks[begin]);
    });
  }
  /// Those of a node before two nodes share one; with more groups than nodes each node's ranks are
  /// put in its groups by `inside(ranks, groups)`.
  template <class F>
  void group_nodes(const std::vector<Ranks>& nodes, std::size_t n_groups, const F& inside) {
    if (n_groups < nodes.size()) {
      for_each_group(nodes.size(), n_groups, [&](std::size_t begin, std::size_t end) {
        for (std::size_t node = begin; node < end; ++node) give(nodes[node], nodes[begin].front());
      });
      return;
    }
    const std::vector<std::size_t> groups = groups_by_node(nodes, n_groups);
    for (std::size_t node = 0; node < nodes.size(); ++node) inside(nodes[node], groups[node]);
  }
  std::vector<int> take() { return std::move(of_rank_); }

 private:
  void give(std::span<const int> ranks, int holder) {
    for (const int rank : ranks) of_rank_[static_cast<std::size_t>(rank)] = holder;
  }

  std::vector<int> of_rank_;
};

std::vector<int> holders_by_rank(const GroupTask& task) {
  Holders holders(task.rows.size());
  holders.group(active_ranks(task.rows), static_cast<std::size_t>(task.n_groups));
  return holders.take();
}

std::vector<int> holders_by_node(const GroupTask& task) {
  return holders_of_rows(task.topology, task.rows, task.n_groups);
}

std::vector<int> holders_by_socket(const GroupTask& task) {
  Holders holders(task.rows.size());
  const auto in_order = [&](const Ranks& ranks, std::size_t groups) {
    holders.group(ranks, groups);
  };
  holders.group_nodes(
      by_node(task.topology, active_ranks(task.rows)), static_cast<std::size_t>(task.n_groups),
      [&](const Ranks& ranks, std::size_t groups) {
        holders.group_nodes(by_node(task.topology.domains(), ranks), groups, in_order);
      });
  return holders.take();
}

bool groups_are_known() {
  return true;
}

}  // namespace

std::vector<int> holders_of_rows(const mpi::Topology& topology, std::span<const GlobalIndex> rows,
                                 int n_groups) {
  Holders holders(rows.size());
  holders.group_nodes(
      by_node(topology, active_ranks(rows)), static_cast<std::size_t>(n_groups),
      [&](const Ranks& ranks, std::size_t groups) { holders.group(ranks, groups); });
  return holders.take();
}

const GroupMethod& groups_by_node_first() {
  static const GroupMethod method = {
      {"node", "ranks of a node before two nodes share one, then neighbours by their numbers", ""},
      false,
      groups_are_known,
      holders_by_node};
  return method;
}

const GroupMethod& groups_by_rank() {
  static const GroupMethod method = {
      {"rank", "neighbours by their numbers, the first groups one larger",
       "Gahvari, Gropp, Jordan, Schulz, Yang 2014, section 6.1"},
      false,
      groups_are_known,
      holders_by_rank};
  return method;
}

const GroupMethod& groups_by_socket() {
  static const GroupMethod method = {
      {"socket",
       "as node, and ranks of a socket before two of a node's share one, where ranks are placed on "
       "sockets",
       ""},
      false,
      groups_are_known,
      holders_by_socket};
  return method;
}

}  // namespace nodewise::amg
