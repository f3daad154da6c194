// The placement of ranks: the node of each, and its domain there.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace nodewise::mpi {

/// The placement of ranks on nodes: a value, without MPI, so that plans for any number of virtual
/// ranks can be made in one process. Nodes may hold different numbers of ranks, in any order. A
/// node may be divided into domains, such as its sockets; without them it is one domain.
class Topology {
 public:
  Topology() = default;
  /// `node_of_rank[r]` names the node of rank r by any non-negative number; nodes are renumbered
  /// 0, 1, ... in the order of their lowest rank. Throws invalid_argument on a negative number.
  explicit Topology(std::span<const int> node_of_rank);
  /// The same nodes, divided: `domain_of_rank[r]` names the domain of rank r among those of its
  /// node by any non-negative number, so that domains of two nodes never are one. Throws
  /// invalid_argument on a negative number, and unless there is one for every rank.
  Topology with_domains(std::span<const int> domain_of_rank) const;

  int n_ranks() const { return static_cast<int>(node_of_rank_.size()); }
  int n_nodes() const { return static_cast<int>(first_.size()) - 1; }
  int node(int rank) const { return node_of_rank_[static_cast<std::size_t>(rank)]; }
  bool same_node(int a, int b) const { return node(a) == node(b); }
  /// The ranks of a node, ascending.
  std::span<const int> ranks_on(int node) const;
  /// How many the fullest node has; at least 1.
  std::size_t most_ranks_on_a_node() const;
  /// The position of a rank among those of its node.
  std::size_t place_on_node(int rank) const;
  /// The rank of `node` that joins what `rank` sends there: the one in the same place, counted
  /// round where that node has fewer ranks.
  int corresponding_rank(int rank, int node) const;

  /// Whether some node has more than one domain.
  bool has_domains() const { return domains_ != nullptr; }
  /// The domains in the place of the nodes, so that what works between nodes works between domains;
  /// this topology itself where no node has more than one.
  const Topology& domains() const { return domains_ ? *domains_ : *this; }
  bool same_domain(int a, int b) const { return domains().same_node(a, b); }

 private:
  std::vector<int> node_of_rank_;
  std::vector<int> ranks_;        // ranks grouped by node
  std::vector<int> first_ = {0};  // where each node's group begins in ranks_
  std::shared_ptr<const Topology> domains_;
};

}  // namespace nodewise::mpi
