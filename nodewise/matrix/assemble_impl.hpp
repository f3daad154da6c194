// Template bodies of assemble.hpp.
#pragma once

#include <algorithm>
#include <string>

#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

namespace detail {

[[noreturn]] void throw_column(GlobalIndex row, GlobalIndex column, const Layout& cols);

/// Both passes of matrix_from_rows: count, then fill.
template <class T, class Row>
SplitRows<T> generate_rows(const Layout& rows, const Layout& cols, Row& row) {
  SplitRows<T> split;
  split.on = Csr<T>(rows.n_local(), cols.n_local());
  split.off = Csr<T>(rows.n_local(), 0);
  Offset on = 0;
  Offset off = 0;
  for (LocalIndex i = 0; i < rows.n_local(); ++i) {
    const GlobalIndex global_row = rows.to_global(i);
    row(global_row, [&](GlobalIndex column, T) {
      if (cols.owns(column)) {
        ++on;
      } else {
        if (!cols.contains(column)) throw_column(global_row, column, cols);
        split.ghosts.push_back(column);
        ++off;
      }
    });
    split.on.row_ptr[static_cast<std::size_t>(i) + 1] = on;
    split.off.row_ptr[static_cast<std::size_t>(i) + 1] = off;
  }
  std::sort(split.ghosts.begin(), split.ghosts.end());
  split.ghosts.erase(std::unique(split.ghosts.begin(), split.ghosts.end()), split.ghosts.end());
  split.off.n_cols = narrow<LocalIndex>(split.ghosts.size(), "ghosts of a rank:");
  split.on.cols.resize(static_cast<std::size_t>(on));
  split.on.vals.resize(static_cast<std::size_t>(on));
  split.off.cols.resize(static_cast<std::size_t>(off));
  split.off.vals.resize(static_cast<std::size_t>(off));
  std::size_t p = 0;
  std::size_t q = 0;
  for (LocalIndex i = 0; i < rows.n_local(); ++i) {
    row(rows.to_global(i), [&](GlobalIndex column, T value) {
      if (cols.owns(column)) {
        split.on.cols[p] = cols.to_local(column);
        split.on.vals[p++] = value;
      } else {
        const auto at = std::lower_bound(split.ghosts.begin(), split.ghosts.end(), column);
        split.off.cols[q] = static_cast<LocalIndex>(at - split.ghosts.begin());
        split.off.vals[q++] = value;
      }
    });
  }
  kernels::sort_and_combine_rows(split.on);
  kernels::sort_and_combine_rows(split.off);
  return split;
}

}  // namespace detail

template <class T, class Row>
DistMatrix<T> matrix_from_rows(const Layout& rows, const Layout& cols, Row&& row) {
  return DistMatrix<T>(rows, cols, [&] { return detail::generate_rows<T>(rows, cols, row); });
}

}  // namespace nodewise::matrix
