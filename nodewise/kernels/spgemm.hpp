// Products of two or three local sparse matrices, row by row.
#pragma once

#include <span>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

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

  LocalIndex n_rows() const { return on->n_rows + (ghost != nullptr ? ghost->n_rows : 0); }
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

/// Local. The product of A's first n_rows rows, their columns numbering rows of B, with B
/// (Gustavson 1978). The columns of every row ascend. A.n_cols must be the number of rows of B.
template <class T>
Csr<T> spgemm(const ExtendedRows<T>& A, LocalIndex n_rows, const ExtendedRows<T>& B);

/// Local. Returns L A B, each row made at once: a row of L A lives only until it is multiplied by
/// B. Columns of L number rows of A, columns of A rows of B. Rows are as spgemm leaves them. Where
/// the rows of L and the columns of B come in points of `unknowns` (point_product.hpp) they are
/// made point by point, which gives the same bits faster. Otherwise entries of L A that `direct`,
/// which is empty or B's direct_columns(), leads to the product come first in every sum.
template <class T>
Csr<T> triple_product(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
                      int unknowns = 1, std::span<const LocalIndex> direct = {});

}  // namespace nodewise::kernels
