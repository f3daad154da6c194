// Sparse matrices by compressed rows on a device, as a setup makes and multiplies them.
#pragma once

#include "nodewise/device/buffer.hpp"
#include "nodewise/device/primitives.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::device {

/// What a kernel sees of a matrix: row i has the entries begins[i] .. begins[i + 1] - 1.
template <class T>
struct CsrView {
  LocalIndex n_rows;
  LocalIndex n_cols;
  const Offset* begins;
  const LocalIndex* cols;
  const T* vals;

  NODEWISE_KERNEL Offset begin(std::int64_t i) const { return load(begins + i); }
  NODEWISE_KERNEL Offset end(std::int64_t i) const { return load(begins + i + 1); }
  NODEWISE_KERNEL LocalIndex length(std::int64_t i) const {
    return static_cast<LocalIndex>(end(i) - begin(i));
  }
  NODEWISE_KERNEL LocalIndex col(Offset k) const { return load(cols + k); }
  NODEWISE_KERNEL T val(Offset k) const { return load(vals + k); }
  /// Where entry (i, i) is; the end of the row where there is none.
  NODEWISE_KERNEL Offset diagonal_place(std::int64_t i) const {
    const Offset last = end(i);
    for (Offset k = begin(i); k < last; ++k) {
      if (col(k) == i) return k;
    }
    return last;
  }
  /// Its value; 0 where there is none.
  NODEWISE_KERNEL T diagonal(std::int64_t i) const {
    const Offset k = diagonal_place(i);
    return k < end(i) ? val(k) : T{0};
  }
};

/// Columns ascend and are distinct in every row.
template <class T, class Space>
struct CsrMatrix {
  CsrMatrix() = default;
  /// Local. Room for the entries of rows that begin at `begins_of_rows`; columns and values are not
  /// set.
  CsrMatrix(LocalIndex rows, LocalIndex columns, Buffer<Offset, Space> begins_of_rows,
            Offset n_entries)
      : n_rows(rows),
        n_cols(columns),
        nnz(n_entries),
        begins(std::move(begins_of_rows)),
        cols(static_cast<std::size_t>(n_entries)),
        vals(static_cast<std::size_t>(n_entries)) {}

  CsrView<T> view() const { return {n_rows, n_cols, begins.data(), cols.data(), vals.data()}; }
  std::size_t bytes() const { return begins.bytes() + cols.bytes() + vals.bytes(); }

  LocalIndex n_rows = 0, n_cols = 0;
  Offset nnz = 0;
  Buffer<Offset, Space> begins;
  Buffer<LocalIndex, Space> cols;
  Buffer<T, Space> vals;
};

/// Local. Copies one to a device and back; both wait.
template <class T, class Space>
CsrMatrix<T, Space> upload(Queue<Space>& queue, const kernels::Csr<T>& A);
template <class T, class Space>
kernels::Csr<T> download(Queue<Space>& queue, const CsrMatrix<T, Space>& A);

/// Local. The transposed matrix; its entries come from the places `from` of A, if that is wanted.
template <class T, class Space>
CsrMatrix<T, Space> transpose(Primitives<Space>& primitives, const CsrMatrix<T, Space>& A,
                              Buffer<Offset, Space>* from = nullptr);

/// Local. y = A x.
template <class T, class Space>
void multiply(Queue<Space>& queue, const CsrMatrix<T, Space>& A, const T* x, T* y);

}  // namespace nodewise::device
