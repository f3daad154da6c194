#include "nodewise/io/graph.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/io/row_visit.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

using comm::Layout;

template <class T>
void check_weights(const matrix::DistMatrix<T>& W) {
  for (LocalIndex i = 0; i < W.n_local(); ++i) {
    const GlobalIndex row = W.rows().to_global(i);
    visit_row(W, i, [&](GlobalIndex col, T weight) {
      if (weight < 0 && col != row) {
        throw Error(ErrorCode::unsuitable_matrix,
                    fmt::format("graph: the edge ({}, {}) has the negative weight {}", row + 1,
                                col + 1, weight));
      }
    });
  }
}

template <class T>
struct Edge {
  GlobalIndex col;
  T weight;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// The edges of a row, without loops and zeros, by ascending neighbour.
template <class T>
void collect_edges(const matrix::DistMatrix<T>& W, LocalIndex i, std::vector<Edge<T>>& edges) {
  edges.clear();
  const GlobalIndex row = W.rows().to_global(i);
  visit_row(W, i, [&](GlobalIndex col, T weight) {
    if (col != row && weight != 0) edges.push_back({col, weight});
  });
}

template <class T>
void check_symmetric(const matrix::DistMatrix<T>& W, const matrix::DistMatrix<T>& transposed) {
  std::vector<Edge<T>> edges;
  std::vector<Edge<T>> mirrored;
  for (LocalIndex i = 0; i < W.n_local(); ++i) {
    collect_edges(W, i, edges);
    collect_edges(transposed, i, mirrored);
    if (edges == mirrored) continue;
    const GlobalIndex row = W.rows().to_global(i);
    const auto [a, b] = std::mismatch(edges.begin(), edges.end(), mirrored.begin(), mirrored.end());
    const GlobalIndex col = a == edges.end()      ? b->col
                            : b == mirrored.end() ? a->col
                                                  : std::min(a->col, b->col);
    throw Error(ErrorCode::unsuitable_matrix,
                fmt::format("graph: the adjacency matrix is not symmetric: entries ({0}, {1}) and "
                            "({1}, {0}) differ",
                            row + 1, col + 1));
  }
}

/// The same ranges without the last index.
Layout without_last(const Layout& layout) {
  std::vector<GlobalIndex> starts(layout.starts().begin(), layout.starts().end());
  for (GlobalIndex& start : starts) start = std::min(start, layout.last() - 1);
  return {layout.shared_comm(), std::move(starts)};
}

}  // namespace

template <class T>
matrix::DistMatrix<T> grounded_laplacian(const matrix::DistMatrix<T>& W) {
  if (!(W.rows() == W.cols()) || W.rows().n_global() < 2) {
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("graph: an adjacency matrix is square with at least two rows, this is "
                            "{} x {}",
                            W.rows().n_global(), W.cols().n_global()));
  }
  mpi::collectively(W.comm(), [&] { check_weights(W); });
  const matrix::DistMatrix<T> transposed = matrix::transpose(W);
  mpi::collectively(W.comm(), [&] { check_symmetric(W, transposed); });
  const Layout layout = without_last(W.rows());
  const GlobalIndex last = layout.last();
  return matrix::matrix_from_rows<T>(layout, layout, [&](GlobalIndex row, auto&& emit) {
    T degree = 0;
    visit_row(W, W.rows().to_local(row), [&](GlobalIndex col, T weight) {
      if (col == row || weight == 0) return;
      degree += weight;
      if (col < last) emit(col, -weight);
    });
    emit(row, degree);
  });
}

template matrix::DistMatrix<float> grounded_laplacian(const matrix::DistMatrix<float>&);
template matrix::DistMatrix<double> grounded_laplacian(const matrix::DistMatrix<double>&);

}  // namespace nodewise::io
