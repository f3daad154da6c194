// Matrix rows on their way between ranks, and products of matrices not yet split.
#pragma once

#include "nodewise/comm/exchange.hpp"
#include "nodewise/kernels/csr_ops.hpp"
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

/// Collective. The rows of A B that this rank owns, columns numbered by `columns`, which must have
/// been made from B's column layout and ghosts. One row exchange.
template <class T>
Csr<T> multiply_rows(const DistMatrix<T>& A, const DistMatrix<T>& B, GhostNumbering& columns);

}  // namespace nodewise::matrix
