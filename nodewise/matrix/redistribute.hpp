// Matrices whose rows, or columns, move to other ranks.
#pragma once

#include "nodewise/comm/row_move.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Collective. The matrix whose rows lie as `rows` moves them, and whose columns are laid out, and
/// numbered, as `columns` moves the entries of the vectors that it multiplies. One row exchange
/// over the move's route, one exchange of A where the columns get other numbers, and what making a
/// DistMatrix costs. The result's own exchange is `direct`. O(what this rank had and gets) memory.
/// Throws dimension_mismatch on every rank where a move is not of A's rows, or columns, and
/// index_overflow where a column does not fit a header (row_runs.hpp).
template <class T>
DistMatrix<T> redistribute(const DistMatrix<T>& A, const comm::RowMove& rows,
                           const comm::RowMove& columns);

/// Collective. The square matrix whose rows and columns move alike: Q A Q^T.
template <class T>
DistMatrix<T> redistribute(const DistMatrix<T>& A, const comm::RowMove& move) {
  return redistribute(A, move, move);
}

/// Collective. The matrix whose columns move, as those of an interpolation from a level that goes
/// to other ranks: no row travels. Costs as redistribute(), without the row exchange.
template <class T>
DistMatrix<T> with_moved_columns(const DistMatrix<T>& A, const comm::RowMove& columns);

/// Collective. The matrix whose rows move, as those of a restriction.
template <class T>
DistMatrix<T> with_moved_rows(const DistMatrix<T>& A, const comm::RowMove& rows);

/// Collective. [A A ... A], as often as `cols` has the columns of A. Costs as with_moved_columns().
template <class T>
DistMatrix<T> with_repeated_columns(const DistMatrix<T>& A, const Layout& cols);

/// Collective on the ranks of `rows`, which each have as many rows there as of A. These rows of A
/// on another communicator, with the columns in their order, which are as many. Costs what making a
/// DistMatrix does.
template <class T>
DistMatrix<T> on_other_ranks(const DistMatrix<T>& A, const Layout& rows, const Layout& cols);

}  // namespace nodewise::matrix
