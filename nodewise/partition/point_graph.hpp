// The graph of a matrix on one rank, as partitioners need it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::partition {

/// Points and their neighbours: undirected, without loops, each edge at both ends. Neighbours of
/// point k are neighbours[begins[k] .. begins[k + 1]), ascending.
struct PointGraph {
  std::vector<std::int64_t> begins = {0};
  std::vector<LocalIndex> neighbours;
  std::vector<std::int64_t> weights;  ///< nonzeros of the rows of each point

  LocalIndex n_points() const { return static_cast<LocalIndex>(weights.size()); }
};

/// Local. The graph of a whole square matrix, of its pattern made symmetric, with `unknowns` rows a
/// point.
PointGraph point_graph(const kernels::Csr<double>& A, int unknowns);

/// Local. The part of a graph between the points `chosen`, which are numbered as they come.
PointGraph part_of(const PointGraph& graph, std::span<const LocalIndex> chosen);

/// Local. The parts of rows, `unknowns` to each point, from those of the points.
std::vector<int> for_rows(std::span<const int> of_points, int unknowns);

/// Local. How many values cross from node to node in a product: for each point the nodes other than
/// its own that have a neighbour of it. node_of_point has an entry for each point.
std::int64_t values_between_nodes(const PointGraph& graph, std::span<const int> node_of_point);

}  // namespace nodewise::partition
