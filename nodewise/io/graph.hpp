// Linear systems of graphs.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// Collective. The grounded Laplacian of a graph with adjacency matrix W: diag(W 1) - W without its
/// last row and column, symmetric positive definite where the graph is connected. The diagonal and
/// the stored zeros of W are ignored. Rows and columns keep their ranks. Costs one transpose.
/// Throws the same Error on every rank: dimension_mismatch where W is not square with equal layouts
/// or has fewer than two rows; unsuitable_matrix for a negative weight or a W that is not
/// symmetric.
template <class T>
matrix::DistMatrix<T> grounded_laplacian(const matrix::DistMatrix<T>& W);

}  // namespace nodewise::io
