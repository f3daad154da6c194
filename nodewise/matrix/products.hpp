// Products of distributed matrices, in the three forms that a partition in one dimension allows
// (Bienz 2018, section 6.2). All functions are collective. Matrix rows travel over the route of the
// exchange that is named. They throw dimension_mismatch on every rank where the shapes or the
// ranges of the ranks do not fit. The result's own exchange is `direct`.
#pragma once

#include <memory>
#include <utility>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/row_exchange.hpp"

namespace nodewise::matrix {

/// A matrix held by columns: each rank has the columns that are the rows of `transposed` there, so
/// that nothing is copied to look at a matrix as its own transpose held the other way.
template <class T>
struct ColumnMatrix {
  DistMatrix<T> transposed;
};

/// A B, row-wise (Gustavson 1978; Bienz 2018, algorithm 6.1): one row exchange over A.exchange()
/// brings the rows of B for the ghosts of A. A.cols() must be B.rows().
template <class T>
DistMatrix<T> multiply(const DistMatrix<T>& A, const DistMatrix<T>& B);

/// A B, column-wise (algorithm 6.2): one row exchange over the exchange of B's transpose brings the
/// columns of A for the entries of B in rows that other ranks own.
template <class T>
ColumnMatrix<T> multiply(const ColumnMatrix<T>& A, const ColumnMatrix<T>& B) {
  return {multiply(B.transposed, A.transposed)};
}

/// Returns A^T B as the sum of the outer products of their rows (algorithm 6.3). Every rank
/// multiplies its own rows of A and B. Contributions to rows that others own go there by one
/// reversed row exchange over A.exchange(). If the route passes a row on at the node, contributions
/// of several ranks are added up there before they cross the network. A.rows() must be B.rows();
/// the result's rows are laid out by A.cols(). A and B may be the same.
template <class T>
DistMatrix<T> multiply_transposed(const DistMatrix<T>& A, const DistMatrix<T>& B);

/// A B for A by columns, B and the result by rows: the outer-product form.
template <class T>
DistMatrix<T> multiply(const ColumnMatrix<T>& A, const DistMatrix<T>& B) {
  return multiply_transposed(A.transposed, B);
}

/// The ways to make the Galerkin product.
enum class GalerkinForm {
  fused,   ///< each coarse row at once, by way of one row of P^T A; the fastest
  unfused  ///< A P row-wise, kept, then P^T (A P) by outer products
};

/// P^T A P: one row exchange over A.exchange() for P's rows, a reversed one over P.exchange() for
/// the result's. Both forms give the same up to round-off. With P's columns in points of
/// `coarse_unknowns`, 2 to 6 (kernels/point_product.hpp), the fused form is faster and gives the
/// same bits; where they do not come so after all it is as with 1. Where A has blocks and P comes
/// in such, too (kernels/block_product.hpp), it is faster still, and equal up to round-off. The
/// fused form leaves the rows of P that it fetched in `fetched`, unless that is null.
template <class T>
DistMatrix<T> galerkin_product(const DistMatrix<T>& A, const DistMatrix<T>& P,
                               GalerkinForm form = GalerkinForm::fused, int coarse_unknowns = 1,
                               std::shared_ptr<const FetchedRows<T>>* fetched = nullptr);

}  // namespace nodewise::matrix
