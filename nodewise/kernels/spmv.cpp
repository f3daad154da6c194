#include "nodewise/kernels/spmv.hpp"

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/kernels/row_product.hpp"

namespace nodewise::kernels {

namespace {

/// Calls f(i, product of row i with x) for all rows, on the threads.
template <class T, class F>
void for_each_product(const Csr<T>& A, const T* x, F&& f) {
  const Offset* const row_ptr = A.row_ptr.data();
  const LocalIndex* const cols = A.cols.data();
  const T* const vals = A.vals.data();
  parallel::for_rows(A.row_ptr, [&](LocalIndex first, LocalIndex last) {
    const auto run = [&](auto product) {
      RowBlocks<T>(A, first, last).upwards(first, last, [=](LocalIndex begin, LocalIndex end) {
        for (LocalIndex i = begin; i < end; ++i) {
          f(i, product.of(cols, vals, row_ptr[i], row_ptr[i + 1], x));
        }
      });
    };
    ends_are_unpredictable(A.row_ptr, first, last) ? run(UnguessedProduct())
                                                   : run(GuessedProduct());
  });
}

}  // namespace

template <class T>
void spmv(const Csr<T>& A, std::span<const T> x, std::span<T> y) {
  T* const to = y.data();
  for_each_product(A, x.data(), [to](LocalIndex i, T product) { to[i] = product; });
}

template <class T>
void spmv_add(const Csr<T>& A, std::span<const T> x, std::span<T> y) {
  T* const to = y.data();
  for_each_product(A, x.data(), [to](LocalIndex i, T product) { to[i] += product; });
}

template <class T>
void residual(const Csr<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r) {
  const T* const from = b.data();
  T* const to = r.data();
  for_each_product(A, x.data(), [from, to](LocalIndex i, T product) { to[i] = from[i] - product; });
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

namespace {

/// y += A^T x over rows from begin to end.
template <class T>
void add_transposed(const Csr<T>& A, LocalIndex begin, LocalIndex end, const T* x, T* y) {
  for (LocalIndex i = begin; i < end; ++i) {
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      y[A.cols[p]] += A.vals[p] * x[i];
    }
  }
}

/// Room that the calling thread keeps from call to call, so that no cycle allocates.
template <class T>
std::span<T> kept_room(std::size_t n) {
  thread_local Array<T> room;
  if (room.size() < n) room.resize(n);
  return std::span<T>(room).first(n);
}

}  // namespace

template <class T>
void spmv_transposed_add(const Csr<T>& A, std::span<const T> x, std::span<T> y) {
  const int parts = parallel::parts_of(A.cols.size() + x.size());
  if (parts == 1) return add_transposed(A, 0, A.n_rows, x.data(), y.data());
  const std::size_t n = y.size();
  const std::span<T> others = kept_room<T>(n * static_cast<std::size_t>(parts - 1));
  parallel::run(parts, [&](int part) {
    T* mine = y.data();
    if (part > 0) {
      mine = others.data() + n * static_cast<std::size_t>(part - 1);
      std::fill_n(mine, n, T{});
    }
    add_transposed(A, parallel::row_part(A.row_ptr, parts, part),
                   parallel::row_part(A.row_ptr, parts, part + 1), x.data(), mine);
  });
  parallel::for_range(n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t from = 0; from < others.size(); from += n) {
      for (std::size_t j = begin; j < end; ++j) y[j] += others[from + j];
    }
  });
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
