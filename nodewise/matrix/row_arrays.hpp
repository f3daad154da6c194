// Making a distributed matrix of compressed rows with global columns, as callers hold them.
#pragma once

#include <span>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// This rank's rows: row k has the entries ends[k] .. ends[k + 1], of global columns. `ends` has
/// one number more than there are rows, begins with 0, ascends and ends with the number of entries.
template <class Index, class Value>
struct RowArrays {
  std::span<const Index> ends, cols;
  std::span<const Value> vals;
};

/// Collective. The matrix of which each rank gives its rows; columns in any order, repeated ones
/// are added up. Throws as matrix_from_rows() does. A rank that owns all columns, as one rank does,
/// reads entries once, on all threads, if columns ascend. Index is std::int32_t or std::int64_t,
/// Value float or double.
template <class Index, class Value>
DistMatrix<double> matrix_from_arrays(const Layout& rows, const Layout& cols,
                                      const RowArrays<Index, Value>& given);

}  // namespace nodewise::matrix
