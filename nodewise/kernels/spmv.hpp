// Products of a local matrix with vectors, on the threads of the rank. Products by rows are the
// same, bit for bit, on any number of threads.
#pragma once

#include <span>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

/// Local. y = A x.
template <class T>
void spmv(const Csr<T>& A, std::span<const T> x, std::span<T> y);

/// Local. y += A x.
template <class T>
void spmv_add(const Csr<T>& A, std::span<const T> x, std::span<T> y);

/// Local. r = b - A x; b and r may be the same array.
template <class T>
void residual(const Csr<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r);

/// What belongs to the rows of a matrix in columns of other ranks.
template <class T>
struct GhostColumns {
  const Csr<T>& A;                    ///< rows as the matrix's, a column for each ghost
  std::span<const LocalIndex> rows;   ///< those that have entries in it, ascending
  std::span<const char> comes_first;  ///< of each column, or empty: which are added before others
  std::span<const T> x;               ///< the ghosts
};

/// Local. y = A x, y += A x and r = b - A x with columns of other ranks: every result goes to
/// memory once, since ghosts are added while it is in a cache, with the same bits as by the
/// functions above and spmv_add_rows() or, twice, spmv_add_rows_where() behind them (Schubert,
/// Hager, Fehske, Wellein 2011, equation 1 in place of equation 2).
template <class T>
void spmv(const Csr<T>& A, std::span<const T> x, const GhostColumns<T>& ghosts, std::span<T> y);
template <class T>
void spmv_add(const Csr<T>& A, std::span<const T> x, const GhostColumns<T>& ghosts, std::span<T> y);
template <class T>
void residual(const Csr<T>& A, std::span<const T> x, const GhostColumns<T>& ghosts,
              std::span<const T> b, std::span<T> r);

/// Local. y += alpha A x in the given rows only, ascending.
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
