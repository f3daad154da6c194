// Products of a local matrix with vectors.
#pragma once

#include <span>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

/// Local. The product of one row with x. Four partial sums, since one alone would wait for its own
/// last addition; the order of additions is fixed.
template <class T>
inline T row_product(const LocalIndex* cols, const T* vals, Offset begin, Offset end, const T* x) {
  T s0{}, s1{}, s2{}, s3{};
  Offset k = begin;
  for (; k + 4 <= end; k += 4) {
    s0 += vals[k] * x[cols[k]];
    s1 += vals[k + 1] * x[cols[k + 1]];
    s2 += vals[k + 2] * x[cols[k + 2]];
    s3 += vals[k + 3] * x[cols[k + 3]];
  }
  for (; k < end; ++k) s0 += vals[k] * x[cols[k]];
  return (s0 + s1) + (s2 + s3);
}

/// Local. y = A x.
template <class T>
void spmv(const Csr<T>& A, std::span<const T> x, std::span<T> y);

/// Local. y += A x.
template <class T>
void spmv_add(const Csr<T>& A, std::span<const T> x, std::span<T> y);

/// Local. r = b - A x; b and r may be the same array.
template <class T>
void residual(const Csr<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r);

/// Local. y += alpha A x in the given rows only.
template <class T>
void spmv_add_rows(T alpha, const Csr<T>& A, std::span<const LocalIndex> rows, std::span<const T> x,
                   std::span<T> y);

/// Local. y += A^T x over the given rows of A only.
template <class T>
void spmv_transposed_add_rows(const Csr<T>& A, std::span<const LocalIndex> rows,
                              std::span<const T> x, std::span<T> y);

/// Local. y += A^T x.
template <class T>
void spmv_transposed_add(const Csr<T>& A, std::span<const T> x, std::span<T> y);

}  // namespace nodewise::kernels
