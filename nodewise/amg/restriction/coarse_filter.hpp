// Coarse matrices without their small entries.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::restriction {

/// Collective. Returns A without the entries whose modulus is below `threshold` times the largest
/// of their row, the diagonal's included. Dropped entries are added to the diagonal, so that
/// constants have the product that they have with A. A row whose diagonal would lose its sign or
/// nearly all of its size (below a tenth), or that has none, stays as it is. Costs the messages of
/// a new matrix.
template <class T>
matrix::DistMatrix<T> without_small_entries(const matrix::DistMatrix<T>& A, double threshold);

/// Collective. The same for new values of A, with the entries of `filtered`, whose exchange it
/// shares. For the values that `filtered` was made of it returns that, bit for bit. Where the
/// diagonal would be lost, dropped entries are not added to it. An agreement.
template <class T>
matrix::DistMatrix<T> filtered_alike(const matrix::DistMatrix<T>& A,
                                     const matrix::DistMatrix<T>& filtered);

}  // namespace nodewise::amg::restriction
