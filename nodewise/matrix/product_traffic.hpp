// What products with a distributed matrix move and compute on this rank.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/model/code_balance.hpp"

namespace nodewise::matrix {

// Local. Values of type V, whatever those of the matrix are; the matrix as it is stored: in blocks
// where it has blocks(). None counts what is sent.

/// The rows and columns of this rank, and the rows that have ghosts: what a product adds to them by
/// a list of their numbers.
template <class V, class T>
model::StoredMatrix own_part(const DistMatrix<T>& A);
template <class V, class T>
model::StoredMatrix ghost_part(const DistMatrix<T>& A);

/// y = A x of `width` vectors side by side.
template <class V, class T>
model::KernelTraffic traffic_of_product(const DistMatrix<T>& A, int width = 1);
/// The same behind its messages, every result written once (Overlap::none): eq. 1 in place of
/// eq. 2.
template <class V, class T>
model::KernelTraffic traffic_of_product_behind(const DistMatrix<T>& A);
/// The same of the rows and columns of this rank alone, by rows.
template <class V>
model::KernelTraffic traffic_of_own_product(const DistMatrix<double>& A);
/// r = b - A x.
template <class V>
model::KernelTraffic traffic_of_residual(const DistMatrix<double>& A);
/// y = A^T x.
template <class V>
model::KernelTraffic traffic_of_transposed(const DistMatrix<double>& A);

}  // namespace nodewise::matrix
