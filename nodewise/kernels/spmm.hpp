// Products of a local matrix with several vectors at once, which read the matrix once. On any
// number of threads the result is the same to the last bit.
#pragma once

#include <span>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

/// Local. Y = A X for `width` vectors side by side: X is n_cols x width and Y n_rows x width, both
/// row-major. Each column is the product with that column alone, up to the order of the additions.
template <class T>
void spmm(const Csr<T>& A, std::span<const T> X, std::span<T> Y, int width);

/// Local. Y += A X in the given rows only, each of which is given once.
template <class T>
void spmm_add_rows(const Csr<T>& A, std::span<const LocalIndex> rows, std::span<const T> X,
                   std::span<T> Y, int width);

/// Local. Y += A X.
template <class T>
void spmm_add(const Csr<T>& A, std::span<const T> X, std::span<T> Y, int width);

/// Local. Y += A^T X.
template <class T>
void spmm_transposed_add(const Csr<T>& A, std::span<const T> X, std::span<T> Y, int width);

/// Local. Y += A^T X over the given rows of A only.
template <class T>
void spmm_transposed_add_rows(const Csr<T>& A, std::span<const LocalIndex> rows,
                              std::span<const T> X, std::span<T> Y, int width);

/// Local. y += the entries begin .. end of A, which are of one row, times X: `width` numbers.
template <class T>
void spmm_add_entries(const Csr<T>& A, Offset begin, Offset end, const T* X, std::size_t width,
                      T* y);

}  // namespace nodewise::kernels
