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
/// on->n_rows + g is row g of `ghost`.
template <class T>
struct ExtendedRows {
  const Csr<T>* on = nullptr;
  const Csr<T>* off = nullptr;
  const Csr<T>* ghost = nullptr;
  LocalIndex off_shift = 0;
  LocalIndex n_cols = 0;

  /// Calls f(column, value) for every entry of row i.
  template <class F>
  void for_each(LocalIndex i, F&& f) const {
    if (i < on->n_rows) {
      for (Offset k = on->begin(i); k < on->end(i); ++k) {
        f(on->cols[static_cast<std::size_t>(k)], on->vals[static_cast<std::size_t>(k)]);
      }
      for (Offset k = off->begin(i); k < off->end(i); ++k) {
        f(off->cols[static_cast<std::size_t>(k)] + off_shift,
          off->vals[static_cast<std::size_t>(k)]);
      }
    } else {
      const LocalIndex g = i - on->n_rows;
      for (Offset k = ghost->begin(g); k < ghost->end(g); ++k) {
        f(ghost->cols[static_cast<std::size_t>(k)], ghost->vals[static_cast<std::size_t>(k)]);
      }
    }
  }
};

/// Local. The product of A's rows, their columns numbering rows of B, with B (Gustavson 1978). Rows
/// of the result are unsorted, each column once. A.n_cols must be the number of rows of B.
template <class T>
Csr<T> spgemm(const ExtendedRows<T>& A, LocalIndex n_rows, const ExtendedRows<T>& B);

}  // namespace nodewise::kernels
