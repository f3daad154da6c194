#include "nodewise/kernels/csr_ops.hpp"

#include <algorithm>

namespace nodewise::kernels {

namespace {

template <class T>
struct Entry {
  LocalIndex col;
  LocalIndex position;  // in the unsorted row, so that equal columns keep their order
  T value;
};

template <class T>
void insertion_sort(LocalIndex* cols, T* vals, Offset n) {
  for (Offset k = 1; k < n; ++k) {
    const LocalIndex col = cols[k];
    const T value = vals[k];
    Offset p = k;
    for (; p > 0 && cols[p - 1] > col; --p) {
      cols[p] = cols[p - 1];
      vals[p] = vals[p - 1];
    }
    cols[p] = col;
    vals[p] = value;
  }
}

template <class T>
void sort_row(LocalIndex* cols, T* vals, Offset n, std::vector<Entry<T>>& scratch) {
  constexpr Offset short_row = 24;
  if (n <= short_row) return insertion_sort(cols, vals, n);
  scratch.resize(static_cast<std::size_t>(n));
  for (Offset k = 0; k < n; ++k) {
    scratch[static_cast<std::size_t>(k)] = {cols[k], static_cast<LocalIndex>(k), vals[k]};
  }
  std::sort(scratch.begin(), scratch.end(), [](const Entry<T>& a, const Entry<T>& b) {
    return a.col != b.col ? a.col < b.col : a.position < b.position;
  });
  for (Offset k = 0; k < n; ++k) {
    cols[k] = scratch[static_cast<std::size_t>(k)].col;
    vals[k] = scratch[static_cast<std::size_t>(k)].value;
  }
}

}  // namespace

template <class T>
Offset sort_and_combine_rows(Csr<T>& A) {
  std::vector<Entry<T>> scratch;
  Offset out = 0;
  LocalIndex* cols = A.cols.data();
  T* vals = A.vals.data();
  Offset begin = 0;
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    const Offset end = A.end(i);
    if (!std::is_sorted(cols + begin, cols + end)) {
      sort_row(cols + begin, vals + begin, end - begin, scratch);
    }
    const Offset row_out = out;
    for (Offset k = begin; k < end; ++k) {
      if (out > row_out && cols[out - 1] == cols[k]) {
        vals[out - 1] += vals[k];
      } else {
        cols[out] = cols[k];
        vals[out] = vals[k];
        ++out;
      }
    }
    begin = end;
    A.row_ptr[static_cast<std::size_t>(i) + 1] = out;
  }
  const Offset combined = begin - out;
  A.cols.resize(static_cast<std::size_t>(out));
  A.vals.resize(static_cast<std::size_t>(out));
  return combined;
}

template <class T>
Csr<T> transpose(const Csr<T>& A) {
  Csr<T> B(A.n_cols, A.n_rows);
  for (const LocalIndex col : A.cols) ++B.row_ptr[static_cast<std::size_t>(col) + 1];
  for (std::size_t j = 0; j < static_cast<std::size_t>(B.n_rows); ++j) {
    B.row_ptr[j + 1] += B.row_ptr[j];
  }
  B.cols.resize(A.cols.size());
  B.vals.resize(A.vals.size());
  std::vector<Offset> next(B.row_ptr.begin(), B.row_ptr.end() - 1);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto j = static_cast<std::size_t>(A.cols[static_cast<std::size_t>(k)]);
      const auto p = static_cast<std::size_t>(next[j]++);
      B.cols[p] = i;
      B.vals[p] = A.vals[static_cast<std::size_t>(k)];
    }
  }
  return B;
}

namespace {

/// Estimates the nonzeros of the product from every 64th row, with a margin.
template <class T>
std::size_t estimate_nnz(const ExtendedRows<T>& A, LocalIndex n_rows, const ExtendedRows<T>& B,
                         std::vector<Offset>& marker) {
  constexpr LocalIndex stride = 64;
  Offset found = 0;
  Offset sampled = 0;
  for (LocalIndex i = 0; i < n_rows; i += stride, ++sampled) {
    A.for_each(i, [&](LocalIndex k, T) {
      B.for_each(k, [&](LocalIndex j, T) {
        Offset& mark = marker[static_cast<std::size_t>(j)];
        if (mark != -2 - Offset{i}) {
          mark = -2 - Offset{i};
          ++found;
        }
      });
    });
  }
  if (sampled == 0) return 0;
  const double per_row = static_cast<double>(found) / static_cast<double>(sampled);
  return static_cast<std::size_t>(1.06 * per_row * n_rows) + 1024;
}

}  // namespace

template <class T>
Csr<T> spgemm(const ExtendedRows<T>& A, LocalIndex n_rows, const ExtendedRows<T>& B) {
  Csr<T> C(n_rows, B.n_cols);
  // marker[j]: where column j of the current row stands in C; anything below the row's begin:
  // absent.
  std::vector<Offset> marker(static_cast<std::size_t>(B.n_cols), -1);
  const std::size_t estimate = estimate_nnz(A, n_rows, B, marker);
  C.cols.resize(estimate);
  C.vals.resize(estimate);
  Offset out = 0;
  for (LocalIndex i = 0; i < n_rows; ++i) {
    const Offset begin = out;
    if (C.cols.size() < static_cast<std::size_t>(begin) + static_cast<std::size_t>(B.n_cols)) {
      Offset most = 0;  // the longest this row can get
      A.for_each(i, [&](LocalIndex k, T) { B.for_each(k, [&](LocalIndex, T) { ++most; }); });
      const auto needed = static_cast<std::size_t>(begin + std::min(most, Offset{B.n_cols}));
      if (C.cols.size() < needed) {
        C.cols.resize(std::max(needed, C.cols.size() + C.cols.size() / 4));
        C.vals.resize(C.cols.size());
      }
    }
    LocalIndex* cols = C.cols.data();
    T* vals = C.vals.data();
    A.for_each(i, [&](LocalIndex k, T a) {
      B.for_each(k, [&](LocalIndex j, T b) {
        Offset& mark = marker[static_cast<std::size_t>(j)];
        if (mark < begin) {
          mark = out;
          cols[out] = j;
          vals[out] = a * b;
          ++out;
        } else {
          vals[mark] += a * b;
        }
      });
    });
    C.row_ptr[static_cast<std::size_t>(i) + 1] = out;
  }
  C.cols.resize(static_cast<std::size_t>(out));
  C.vals.resize(static_cast<std::size_t>(out));
  return C;
}

#define NODEWISE_INSTANTIATE(T)                   \
  template Offset sort_and_combine_rows(Csr<T>&); \
  template Csr<T> transpose(const Csr<T>&);       \
  template Csr<T> spgemm(const ExtendedRows<T>&, LocalIndex, const ExtendedRows<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
