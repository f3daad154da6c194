// Rows of a sparse matrix in slices, or one behind the other, as a card reads them: made on the
// host.
#pragma once

#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/base/types.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::device {

/// Rows in a slice: as many as threads of a card run together.
inline constexpr LocalIndex slice_rows = 32;
/// Rows that are sorted by their lengths together, so that those of a slice are about as long.
inline constexpr LocalIndex sorted_rows = 512;

/// The threads of a card that take a row together, 1, 8 or 32. Several where the rows are so few
/// that one thread each would leave a card idle, and so long that each thread has two entries at
/// least.
int lanes_of_rows(LocalIndex n_rows, Offset nnz);

/// SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske, Bishop 2014) with C = slice_rows, sigma =
/// sorted_rows: each slice is as wide as its longest row, and has its first entries side by side,
/// then its second ones. What is behind the end of a shorter row is never read. Where a row has
/// several lanes, rows lie one behind the other in their order: slices of one row.
template <class T>
struct SellLayout {
  LocalIndex n_rows = 0;
  LocalIndex n_cols = 0;
  Offset nnz = 0;
  int lanes = 1;                    ///< lanes_of_rows()
  std::vector<Offset> slices;       ///< where each begins, and the end
  std::vector<LocalIndex> rows;     ///< of each place the row; empty where there are several lanes
  std::vector<LocalIndex> lengths;  ///< of each place how many entries its row has; likewise
  Array<LocalIndex> cols;
  Array<T> vals;

  /// Places for entries over entries: 1 where no slice has a gap.
  double padding() const {
    return nnz > 0 ? static_cast<double>(cols.size()) / static_cast<double>(nnz) : 1.0;
  }
};

/// Local. A matrix whose rows have the entries of `on`, and behind these those of `off` with their
/// columns counted from on.n_cols: with the ghosts of a vector behind its own part, one product is
/// all.
template <class T>
SellLayout<T> sell_layout(const kernels::Csr<T>& on, const kernels::Csr<T>& off);

}  // namespace nodewise::device
