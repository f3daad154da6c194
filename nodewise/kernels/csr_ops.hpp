// Rearranging a local matrix: sorting rows, transposing, products of two matrices.
#pragma once

#include <span>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

/// Local. Sorts the columns of every row and adds up repeated ones, in their order of occurrence.
/// Returns the number of entries that were added to another.
template <class T>
Offset sort_and_combine_rows(Csr<T>& A);

/// Local. A^T, its rows sorted. Linear in nonzeros and dimensions.
template <class T>
Csr<T> transpose(const Csr<T>& A);

/// Rows of a matrix in up to three pieces, all in one numbering of columns: row i < on->n_rows is
/// row i of `on` followed by row i of `off` with off_shift added to its columns; row
/// on->n_rows + g is row g of `ghost`. `off` and `ghost` may be null.
template <class T>
struct ExtendedRows {
  const Csr<T>* on = nullptr;
  const Csr<T>* off = nullptr;
  const Csr<T>* ghost = nullptr;
  LocalIndex off_shift = 0;
  LocalIndex n_cols = 0;

  /// Calls f(cols, vals, length, shift) for each piece of row i.
  template <class F>
  void for_each_piece(LocalIndex i, F&& f) const {
    const auto piece = [&f](const Csr<T>& part, LocalIndex row, LocalIndex shift) {
      const Offset begin = part.begin(row);
      f(part.cols.data() + begin, part.vals.data() + begin, part.end(row) - begin, shift);
    };
    if (i < on->n_rows) {
      piece(*on, i, 0);
      if (off != nullptr) piece(*off, i, off_shift);
    } else {
      piece(*ghost, i - on->n_rows, 0);
    }
  }
};

/// Local. The product of A's rows, their columns numbering rows of B, with B (Gustavson 1978). Rows
/// of the result are unsorted, each column once. A.n_cols must be the number of rows of B.
template <class T>
Csr<T> spgemm(const ExtendedRows<T>& A, LocalIndex n_rows, const ExtendedRows<T>& B);

/// Local. The same for the given rows of A only: row r of the result belongs to row rows[r].
template <class T>
Csr<T> spgemm_rows(const ExtendedRows<T>& A, std::span<const LocalIndex> rows,
                   const ExtendedRows<T>& B);

}  // namespace nodewise::kernels
