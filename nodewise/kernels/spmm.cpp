#include "nodewise/kernels/spmm.hpp"

#include <array>
#include <cstddef>

#include "nodewise/base/parallel.hpp"

namespace nodewise::kernels {

namespace {

/// y += the entries begin .. end of A times the columns of X that begin at `X`, `W` of them out of
/// `stride`. The sums of so many columns stay in registers.
template <std::size_t W, class T>
void add_product(const Csr<T>& A, Offset begin, Offset end, const T* X, std::size_t stride, T* y) {
  std::array<T, W> sums{};
  for (Offset k = begin; k < end; ++k) {
    const auto p = static_cast<std::size_t>(k);
    const T a = A.vals[p];
    const T* const x = X + static_cast<std::size_t>(A.cols[p]) * stride;
    for (std::size_t c = 0; c < W; ++c) sums[c] += a * x[c];
  }
  for (std::size_t c = 0; c < W; ++c) y[c] += sums[c];
}

}  // namespace

template <class T>
void spmm_add_entries(const Csr<T>& A, Offset begin, Offset end, const T* X, std::size_t width,
                      T* y) {
  if (begin == end) return;  // X may have no rows, and no address
  std::size_t c = 0;
  for (; c + 8 <= width; c += 8) add_product<8>(A, begin, end, X + c, width, y + c);
  if (c + 4 <= width) {
    add_product<4>(A, begin, end, X + c, width, y + c);
    c += 4;
  }
  if (c + 2 <= width) {
    add_product<2>(A, begin, end, X + c, width, y + c);
    c += 2;
  }
  if (c < width) add_product<1>(A, begin, end, X + c, width, y + c);
}

namespace {

/// y += row i of A times X.
template <class T>
void add_row(const Csr<T>& A, LocalIndex i, const T* X, std::size_t width, T* y) {
  spmm_add_entries(A, A.begin(i), A.end(i), X, width, y);
}

/// Calls f(begin, end) for ranges of rows, as parallel::for_rows(); an entry is work for `width`.
template <class T, class F>
void for_rows(const Csr<T>& A, std::size_t width, F&& f) {
  const int parts = parallel::parts_of((A.cols.size() + A.row_ptr.size()) * width);
  parallel::run(parts, [&](int part) {
    f(parallel::row_part(A.row_ptr, parts, part), parallel::row_part(A.row_ptr, parts, part + 1));
  });
}

/// Y += row i of A, transposed, times row i of X, for the columns of A from `first` to `end`.
template <class T>
void add_transposed_row(const Csr<T>& A, LocalIndex i, LocalIndex first, LocalIndex end, const T* X,
                        std::size_t width, T* Y) {
  const T* const x = X + static_cast<std::size_t>(i) * width;
  for (Offset k = A.begin(i); k < A.end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    const LocalIndex j = A.cols[p];
    if (j < first || j >= end) continue;
    const T a = A.vals[p];
    T* const y = Y + static_cast<std::size_t>(j) * width;
    for (std::size_t c = 0; c < width; ++c) y[c] += a * x[c];
  }
}

/// Calls f(first, end) for ranges of columns. Every thread adds to the rows of Y in its range and
/// looks for their entries in all rows of A: to read these is little beside the additions, and they
/// are made in the same order on any number of threads.
template <class T, class F>
void for_columns(const Csr<T>& A, std::size_t width, F&& f) {
  const int parts = parallel::parts_of(A.cols.size() * width);
  const auto n = static_cast<std::size_t>(A.n_cols);
  parallel::run(parts, [&](int part) {
    f(static_cast<LocalIndex>(parallel::equal_part(n, parts, part)),
      static_cast<LocalIndex>(parallel::equal_part(n, parts, part + 1)));
  });
}

}  // namespace

template <class T>
void spmm_add(const Csr<T>& A, std::span<const T> X, std::span<T> Y, int width) {
  const auto w = static_cast<std::size_t>(width);
  for_rows(A, w, [&](LocalIndex begin, LocalIndex end) {
    for (LocalIndex i = begin; i < end; ++i) {
      add_row(A, i, X.data(), w, Y.data() + static_cast<std::size_t>(i) * w);
    }
  });
}

template <class T>
void spmm_transposed_add(const Csr<T>& A, std::span<const T> X, std::span<T> Y, int width) {
  const auto w = static_cast<std::size_t>(width);
  for_columns(A, w, [&](LocalIndex first, LocalIndex end) {
    for (LocalIndex i = 0; i < A.n_rows; ++i) {
      add_transposed_row(A, i, first, end, X.data(), w, Y.data());
    }
  });
}

template <class T>
void spmm_transposed_add_rows(const Csr<T>& A, std::span<const LocalIndex> rows,
                              std::span<const T> X, std::span<T> Y, int width) {
  const auto w = static_cast<std::size_t>(width);
  for_columns(A, w, [&](LocalIndex first, LocalIndex end) {
    for (const LocalIndex i : rows) {
      add_transposed_row(A, i, first, end, X.data(), w, Y.data());
    }
  });
}

template <class T>
void spmm(const Csr<T>& A, std::span<const T> X, std::span<T> Y, int width) {
  const auto w = static_cast<std::size_t>(width);
  for_rows(A, w, [&](LocalIndex begin, LocalIndex end) {
    for (LocalIndex i = begin; i < end; ++i) {
      T* const y = Y.data() + static_cast<std::size_t>(i) * w;
      for (std::size_t c = 0; c < w; ++c) y[c] = T{};
      add_row(A, i, X.data(), w, y);
    }
  });
}

template <class T>
void spmm_add_rows(const Csr<T>& A, std::span<const LocalIndex> rows, std::span<const T> X,
                   std::span<T> Y, int width) {
  const auto w = static_cast<std::size_t>(width);
  const int parts = parallel::parts_of(A.cols.size() * w);
  parallel::run(parts, [&](int part) {
    const std::size_t end = parallel::equal_part(rows.size(), parts, part + 1);
    for (std::size_t k = parallel::equal_part(rows.size(), parts, part); k < end; ++k) {
      add_row(A, rows[k], X.data(), w, Y.data() + static_cast<std::size_t>(rows[k]) * w);
    }
  });
}

#define NODEWISE_INSTANTIATE(T)                                                               \
  template void spmm_add_entries(const Csr<T>&, Offset, Offset, const T*, std::size_t, T*);   \
  template void spmm_add(const Csr<T>&, std::span<const T>, std::span<T>, int);               \
  template void spmm_transposed_add(const Csr<T>&, std::span<const T>, std::span<T>, int);    \
  template void spmm_transposed_add_rows(const Csr<T>&, std::span<const LocalIndex>,          \
                                         std::span<const T>, std::span<T>, int);              \
  template void spmm(const Csr<T>&, std::span<const T>, std::span<T>, int);                   \
  template void spmm_add_rows(const Csr<T>&, std::span<const LocalIndex>, std::span<const T>, \
                              std::span<T>, int);
NODEWISE_INSTANTIATE(double)
NODEWISE_INSTANTIATE(float)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
