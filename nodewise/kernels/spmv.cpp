#include "nodewise/kernels/spmv.hpp"

namespace nodewise::kernels {

template <class T>
void spmv(const Csr<T>& A, std::span<const T> x, std::span<T> y) {
  const Offset* row_ptr = A.row_ptr.data();
  const LocalIndex* cols = A.cols.data();
  const T* vals = A.vals.data();
  Prefetch<T> prefetch(A);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    prefetch.upwards(row_ptr[i + 1]);
    y[static_cast<std::size_t>(i)] = row_product(cols, vals, row_ptr[i], row_ptr[i + 1], x.data());
  }
}

template <class T>
void spmv_add(const Csr<T>& A, std::span<const T> x, std::span<T> y) {
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    y[static_cast<std::size_t>(i)] +=
        row_product(A.cols.data(), A.vals.data(), A.begin(i), A.end(i), x.data());
  }
}

template <class T>
void residual(const Csr<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r) {
  const Offset* row_ptr = A.row_ptr.data();
  const LocalIndex* cols = A.cols.data();
  const T* vals = A.vals.data();
  Prefetch<T> prefetch(A);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    prefetch.upwards(row_ptr[i + 1]);
    const auto u = static_cast<std::size_t>(i);
    r[u] = b[u] - row_product(cols, vals, row_ptr[i], row_ptr[i + 1], x.data());
  }
}

template <class T>
void spmv_add_rows(T alpha, const Csr<T>& A, std::span<const LocalIndex> rows, std::span<const T> x,
                   std::span<T> y) {
  const LocalIndex* cols = A.cols.data();
  const T* vals = A.vals.data();
  for (const LocalIndex i : rows) {
    y[static_cast<std::size_t>(i)] +=
        alpha * row_product(cols, vals, A.begin(i), A.end(i), x.data());
  }
}

template <class T>
void spmv_add_rows_where(T alpha, const Csr<T>& A, std::span<const LocalIndex> rows,
                         std::span<const char> in, char value, std::span<const T> x,
                         std::span<T> y) {
  for (const LocalIndex i : rows) {
    T sum{};
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const auto j = static_cast<std::size_t>(A.cols[p]);
      if (in[j] == value) sum += A.vals[p] * x[j];
    }
    y[static_cast<std::size_t>(i)] += alpha * sum;
  }
}

template <class T>
void spmv_transposed_add_rows(const Csr<T>& A, std::span<const LocalIndex> rows,
                              std::span<const T> x, std::span<T> y) {
  for (const LocalIndex i : rows) {
    const T xi = x[static_cast<std::size_t>(i)];
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      y[static_cast<std::size_t>(A.cols[p])] += A.vals[p] * xi;
    }
  }
}

template <class T>
void spmv_transposed_add(const Csr<T>& A, std::span<const T> x, std::span<T> y) {
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    const T xi = x[static_cast<std::size_t>(i)];
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      y[static_cast<std::size_t>(A.cols[p])] += A.vals[p] * xi;
    }
  }
}

#define NODEWISE_INSTANTIATE(T)                                                                  \
  template void spmv(const Csr<T>&, std::span<const T>, std::span<T>);                           \
  template void spmv_add(const Csr<T>&, std::span<const T>, std::span<T>);                       \
  template void residual(const Csr<T>&, std::span<const T>, std::span<const T>, std::span<T>);   \
  template void spmv_add_rows(T, const Csr<T>&, std::span<const LocalIndex>, std::span<const T>, \
                              std::span<T>);                                                     \
  template void spmv_add_rows_where(T, const Csr<T>&, std::span<const LocalIndex>,               \
                                    std::span<const char>, char, std::span<const T>,             \
                                    std::span<T>);                                               \
  template void spmv_transposed_add_rows(const Csr<T>&, std::span<const LocalIndex>,             \
                                         std::span<const T>, std::span<T>);                      \
  template void spmv_transposed_add(const Csr<T>&, std::span<const T>, std::span<T>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
