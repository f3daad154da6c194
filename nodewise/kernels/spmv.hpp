// Products of a local matrix with vectors, on the threads of the rank. Products by rows are the
// same, bit for bit, on any number of threads.
#pragma once

#include <algorithm>
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

/// Asks the memory for entries ahead of those in use. The hardware's own prefetching stops at page
/// borders, which short rows of two arrays cross all the time: worth a tenth of a product.
template <class T>
class Prefetch {
 public:
  explicit Prefetch(const Csr<T>& A) : Prefetch(A, 0, A.n_rows) {}
  /// The same for rows from first to last, the latter not included.
  Prefetch(const Csr<T>& A, LocalIndex first, LocalIndex last)
      : cols_(A.cols.data()),
        vals_(A.vals.data()),
        begin_(A.row_ptr[static_cast<std::size_t>(first)]),
        end_(A.row_ptr[static_cast<std::size_t>(last)]),
        next_(begin_),
        last_(end_) {}

  /// Call with the end of each row when rows are visited upwards.
  void upwards(Offset row_end) {
    for (const Offset until = std::min(row_end + distance, end_); next_ < until; next_ += step) {
      fetch(next_);
    }
  }
  /// Call with the begin of each row when rows are visited downwards.
  void downwards(Offset row_begin) {
    for (const Offset until = std::max(row_begin - distance, begin_); last_ > until;) {
      last_ = std::max(last_ - step, begin_);
      fetch(last_);
    }
  }

 private:
  static constexpr Offset distance = 256;
  static constexpr Offset step = 64 / sizeof(LocalIndex);  // one cache line of columns

  void fetch(Offset k) const {
    __builtin_prefetch(cols_ + k);
    __builtin_prefetch(vals_ + k);
    if constexpr (sizeof(T) == 8) __builtin_prefetch(vals_ + std::min(k + step / 2, end_));
  }

  const LocalIndex* cols_;
  const T* vals_;
  Offset begin_, end_, next_, last_;
};

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

/// Local. Likewise, with those columns j only for which in[j] is `value`; of x no others are read.
template <class T>
void spmv_add_rows_where(T alpha, const Csr<T>& A, std::span<const LocalIndex> rows,
                         std::span<const char> in, char value, std::span<const T> x,
                         std::span<T> y);

/// Local. y += A^T x over the given rows of A only.
template <class T>
void spmv_transposed_add_rows(const Csr<T>& A, std::span<const LocalIndex> rows,
                              std::span<const T> x, std::span<T> y);

/// Local. y += A^T x. Threads add to vectors of their own first, of the length of y: the order of
/// the additions depends on their number.
template <class T>
void spmv_transposed_add(const Csr<T>& A, std::span<const T> x, std::span<T> y);

}  // namespace nodewise::kernels
