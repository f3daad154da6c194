// The parts of a partition as a graph: what they need of each other in a product.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::partition {

struct QuotientGraph {
  struct Edge {
    int from, to;         ///< parts
    std::int64_t values;  ///< of the one that the other needs
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  int n_parts = 0;
  std::vector<Edge> edges;  ///< by `from`, then by `to`; each pair once, none to itself

  /// More edges are not gathered: nearly all parts then need values of nearly all others.
  static constexpr std::int64_t max_edges = 4'000'000;
};

/// Collective. The graph of a square matrix whose local row i is of part owners[i], the same on
/// every rank; nothing where it has more than max_edges. An exchange of A's ghosts, one sparse
/// exchange, a sum and a concatenation. O(nonzeros of this rank + edges) memory.
std::optional<QuotientGraph> quotient_graph(const matrix::DistMatrix<double>& A,
                                            std::span<const int> owners, int n_parts);

}  // namespace nodewise::partition
