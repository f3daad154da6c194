// A matrix that one process holds, as if its rows were spread over many ranks.
#pragma once

#include <span>
#include <vector>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::matrix {

/// Local. Returns the ghosts of every virtual rank. Rank r owns the rows [rows[r], rows[r + 1]) of
/// A and the entries [cols[r], cols[r + 1]) of the vectors it multiplies. Its ghosts are the other
/// columns in which it has entries, ascending. One pass over A; a number for every column and ghost
/// of memory. Throws invalid_argument where the ranges are not all rows and columns.
template <class T>
comm::Records<GlobalIndex> virtual_ghosts(const kernels::Csr<T>& A,
                                          std::span<const GlobalIndex> rows,
                                          std::span<const GlobalIndex> cols);

/// Local. Returns where every row of A begins, in words, when all are written one after another as
/// they travel (row_runs.hpp). The rows are those of virtual ranks as above, each of which writes
/// the columns it owns first. Columns ascend in A's rows.
template <class T>
std::vector<Offset> virtual_row_words(const kernels::Csr<T>& A, std::span<const GlobalIndex> rows,
                                      std::span<const GlobalIndex> cols);

}  // namespace nodewise::matrix
