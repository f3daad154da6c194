// Template bodies of assemble.hpp.
#pragma once

#include <algorithm>
#include <string>

#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

namespace detail {

/// Of the entry (row, column), which is outside of either layout.
[[noreturn]] void throw_outside(GlobalIndex row, GlobalIndex column, const Layout& rows,
                                const Layout& cols);

/// Both passes of matrix_from_rows: count, then fill.
template <class T, class Row>
SplitRows<T> generate_rows(const Layout& rows, const Layout& cols, Row& row) {
  SplitRows<T> split;
  split.on = Csr<T>(rows.n_local(), cols.n_local());
  split.off = Csr<T>(rows.n_local(), 0);
  Offset on = 0;
  Offset off = 0;
  Offset* on_ends = split.on.row_ptr.data() + 1;
  Offset* off_ends = split.off.row_ptr.data() + 1;
  for (LocalIndex i = 0; i < rows.n_local(); ++i) {
    const GlobalIndex global_row = rows.to_global(i);
    row(global_row, [&](GlobalIndex column, T) {
      if (cols.owns(column)) {
        ++on;
      } else {
        if (!cols.contains(column)) throw_outside(global_row, column, rows, cols);
        split.ghosts.push_back(column);
        ++off;
      }
    });
    on_ends[i] = on;
    off_ends[i] = off;
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
  LocalIndex* on_cols = split.on.cols.data();
  LocalIndex* off_cols = split.off.cols.data();
  for (LocalIndex i = 0; i < rows.n_local(); ++i) {
    row(rows.to_global(i), [&](GlobalIndex column, T value) {
      if (cols.owns(column)) {
        on_cols[p] = cols.to_local(column);
        split.on.vals[p++] = value;
      } else {
        const auto at = std::lower_bound(split.ghosts.begin(), split.ghosts.end(), column);
        off_cols[q] = static_cast<LocalIndex>(at - split.ghosts.begin());
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
