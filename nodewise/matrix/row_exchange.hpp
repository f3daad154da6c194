// Matrix rows on their way between ranks, and products of matrices not yet split.
#pragma once

#include "nodewise/comm/exchange.hpp"
#include "nodewise/kernels/spgemm.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"

namespace nodewise::matrix {

/// An entry of a row that travels: its column is global, since ranks number ghosts differently.
template <class T>
struct RowEntry {
  GlobalIndex col;
  T value;
};

/// Collective on the exchange. Brings B's rows for the ghosts of `exchange`, whose owned entries
/// are B's rows. One row exchange.
template <class T>
comm::Records<RowEntry<T>> fetch_rows(comm::Exchange& exchange, const DistMatrix<T>& B);

/// Local. The records as rows, their columns numbered by `columns`.
template <class T>
Csr<T> to_csr(const comm::Records<RowEntry<T>>& records, GhostNumbering& columns);

/// Products with B on the right, once the rows of B for A's ghosts are here.
template <class T>
class RowProduct {
 public:
  /// Collective. One row exchange. The matrices must outlive the object.
  RowProduct(const DistMatrix<T>& A, const DistMatrix<T>& B);

  /// Local. The local rows of A B; columns are numbered by columns().
  Csr<T> rows() const;
  /// Local. L A B for this rank's rows of A, which L's columns number.
  Csr<T> rows_multiplied_by(const Csr<T>& L) const;
  GhostNumbering& columns() { return columns_; }
  const GhostNumbering& columns() const { return columns_; }

 private:
  kernels::ExtendedRows<T> left() const;
  kernels::ExtendedRows<T> right() const;

  const DistMatrix<T>& A_;
  const DistMatrix<T>& B_;
  GhostNumbering columns_;
  Csr<T> ghost_rows_;
};

}  // namespace nodewise::matrix
