// Graphs as networks have them: few vertices with many neighbours, many with few.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/base/options.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::io::problems {

enum class GraphMatrix {
  laplacian,  ///< diag(W 1) - W + shift
  adjacency   ///< W, of ones
};

struct GraphOptions {
  int edges = 8;  ///< drawn for each vertex; those drawn twice and loops count once and not at all
  GraphMatrix graph_matrix = GraphMatrix::laplacian;
  double shift = 0.01;
  int seed = 0;
};

std::span<const Field<GraphOptions>> graph_fields();

struct KroneckerOptions : GraphOptions {
  std::vector<double> initiator = {0.57, 0.19, 0.19, 0.05};  ///< Graph 500's
};

std::span<const Field<KroneckerOptions>> kronecker_fields();

/// Local. The earlier vertex that edge `edge` of vertex `vertex` >= 1 leads to, `edges` for each
/// vertex: one end of an edge drawn before, so that each vertex is drawn by its degree so far
/// (Barabasi, Albert 1999). Instead of keeping the ends it follows them back, each a hash of its
/// place, until one is the beginning of its edge (Sanders, Schulz, "Scalable generation of
/// scale-free graphs", 2016): any rank draws any edge. All edges of vertex 0 lead to itself.
GlobalIndex preferred_vertex(GlobalIndex vertex, int edge, int edges, std::uint64_t seed);

}  // namespace nodewise::io::problems
