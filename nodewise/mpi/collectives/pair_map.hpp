// The ranks of two nodes that carry the data which the nodes have for each other: pure data.
#pragma once

#include <vector>

#include "nodewise/mpi/topology.hpp"

namespace nodewise::mpi::collectives {

/// A share of the traffic between a rank's node and another: what goes to, or comes for, every
/// n_parts-th rank.
struct Share {
  int node;  ///< the other one
  int part;
};

/// Every pair of nodes is given to one rank of each, in both directions; where a node has at least
/// twice as many ranks as partners, and the partner too, to several, each with a part of the
/// destinations. The pairs of a node are dealt out so that no rank has two more than another.
class PairMap {
 public:
  /// `topology` must outlive this.
  explicit PairMap(const Topology& topology) : topology_(topology) {}

  /// The same from both sides.
  int n_parts(int a, int b) const;
  /// The rank on node `here` that carries a part of what is between it and node `there`.
  int carrier(int here, int there, int part) const;
  /// The positions on a node of the ranks whose data is in a part: part, part + n_parts, ...
  std::vector<int> places(int node, int other, int part) const;
  /// All that is between a node and the others, in an order that all its ranks share.
  std::vector<Share> shares_of_node(int node) const;

 private:
  int ranks_a_partner(int node) const;

  const Topology& topology_;
};

}  // namespace nodewise::mpi::collectives
