// The graph of a distributed matrix, as parallel partitioners need it.
#pragma once

#include <cstdint>
#include <vector>

#include "nodewise/comm/layout.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::partition {

/// This rank's points and their neighbours: undirected, without loops, each edge at both ends.
/// Neighbours of local point k are neighbours[begins[k] .. begins[k + 1]), ascending, by their
/// global numbers, which count from 0.
struct DistGraph {
  comm::Layout points;
  std::vector<std::int64_t> begins = {0};
  std::vector<GlobalIndex> neighbours = {};
  std::vector<std::int64_t> weights = {};  ///< nonzeros of the rows of each point
};

/// Collective. The graph of a square matrix whose rows and columns are laid out alike, of its
/// pattern made symmetric, with `unknowns` rows a point. One sparse exchange, of the couplings
/// between ranks. O(nonzeros of this rank) memory. Throws what comm::require_whole_points() does.
DistGraph dist_point_graph(const matrix::DistMatrix<double>& A, int unknowns);

}  // namespace nodewise::partition
