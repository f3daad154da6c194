// Matrix rows on their way between ranks.
#pragma once

#include <functional>
#include <optional>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/kernels/spgemm.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"
#include "nodewise/matrix/row_runs.hpp"

namespace nodewise::matrix {

/// The rows of a matrix that another one's ghosts stand for, their columns numbered together with
/// those of the matrix itself.
template <class T>
struct FetchedRows {
  GhostNumbering columns;
  Csr<T> rows;
};

/// Collective on the exchange. Brings B's rows for the ghosts of `exchange`, whose owned entries
/// are B's rows. One row exchange. What fails here is left in `failure`, for the caller's next
/// agreement: index_overflow where a column does not fit a header (row_runs.hpp).
template <class T>
comm::Records<RowWord<T>> fetch_records(comm::Exchange& exchange, const DistMatrix<T>& B,
                                        std::optional<Error>& failure);
/// Local. Numbers what fetch_records() brought, and frees it.
template <class T>
FetchedRows<T> to_rows(const DistMatrix<T>& B, comm::Records<RowWord<T>>& records);
/// Collective on the exchange. Both, and an agreement.
template <class T>
FetchedRows<T> fetch_rows(comm::Exchange& exchange, const DistMatrix<T>& B);

/// Local. A's rows as a factor: ghosts are numbered behind the columns this rank owns, and
/// `fetched`, if there is any, behind the rows. All must outlive the result.
template <class T>
kernels::ExtendedRows<T> extended_rows(const DistMatrix<T>& A,
                                       const FetchedRows<T>* fetched = nullptr);

/// Local. Rows as records, ready to travel, their columns ascending. Throws index_overflow where a
/// column does not fit a header.
template <class T>
comm::Records<RowWord<T>> to_records(const Csr<T>& rows, const GhostNumbering& columns);

/// Local. `rows` with the entries of record i appended to row i; columns may be repeated then.
template <class T>
Csr<T> append_records(Csr<T> rows, const comm::Records<RowWord<T>>& records,
                      GhostNumbering& columns);

/// Local. The records as rows, their columns numbered by `columns`.
template <class T>
Csr<T> to_csr(const comm::Records<RowWord<T>>& records, GhostNumbering& columns);

/// Collective. The transpose of fetch_rows(): record g of `rows` belongs to ghost g of `exchange`,
/// and goes to its owner. Records of one ghost are added up by the ranks that pass them on. Returns
/// what arrived for every owned entry, columns repeated. One reversed row exchange. `make()` makes
/// the records, and work() goes on meanwhile, as the exchange overlaps: local work, not done where
/// something failed before. What fails here is left in `failure`, for the caller's next agreement.
template <class T>
comm::Records<RowWord<T>> return_rows(comm::Exchange& exchange,
                                      const std::function<comm::Records<RowWord<T>>()>& make,
                                      const std::function<void()>& work,
                                      std::optional<Error>& failure);

}  // namespace nodewise::matrix
