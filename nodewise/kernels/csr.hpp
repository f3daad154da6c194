// The local sparse matrix: compressed rows, 32-bit columns, 64-bit positions.
#pragma once

#include <span>

#include "nodewise/base/array.hpp"
#include "nodewise/base/shared_array.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::kernels {

/// Row i holds the columns cols[row_ptr[i] .. row_ptr[i + 1]) and their values. Copies share the
/// structure.
template <class T>
struct Csr {
  LocalIndex n_rows = 0;
  LocalIndex n_cols = 0;
  SharedArray<Offset> row_ptr = {0};
  SharedArray<LocalIndex> cols;
  Array<T> vals;

  Csr() = default;
  /// An empty matrix of the given shape.
  Csr(LocalIndex rows, LocalIndex columns)
      : n_rows(rows),
        n_cols(columns),
        row_ptr(SharedArray<Offset>::zeros(static_cast<std::size_t>(rows) + 1)) {}

  Offset nnz() const { return row_ptr.back(); }
  Offset begin(LocalIndex i) const { return row_ptr[static_cast<std::size_t>(i)]; }
  Offset end(LocalIndex i) const { return row_ptr[static_cast<std::size_t>(i) + 1]; }
  Offset length(LocalIndex i) const { return end(i) - begin(i); }
};

}  // namespace nodewise::kernels
