// Which rank sits on which node.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nodewise::mpi {

/// The placement of ranks on nodes: a value, without MPI, so that plans for any number of virtual
/// ranks can be made in one process. Nodes may hold different numbers of ranks, in any order.
class Topology {
 public:
  Topology() = default;
  /// `node_of_rank[r]` names the node of rank r by any non-negative number; nodes are renumbered
  /// 0, 1, ... in the order of their lowest rank. Throws invalid_argument on a negative number.
  explicit Topology(std::span<const int> node_of_rank);

  int n_ranks() const { return static_cast<int>(node_of_rank_.size()); }
  int n_nodes() const { return static_cast<int>(first_.size()) - 1; }
  int node(int rank) const { return node_of_rank_[static_cast<std::size_t>(rank)]; }
  bool same_node(int a, int b) const { return node(a) == node(b); }
  /// The ranks of a node, ascending.
  std::span<const int> ranks_on(int node) const;
  /// Where a rank stands among those of its node.
  std::size_t place_on_node(int rank) const;

 private:
  std::vector<int> node_of_rank_;
  std::vector<int> ranks_;        // ranks grouped by node
  std::vector<int> first_ = {0};  // where each node's group begins in ranks_
};

}  // namespace nodewise::mpi
