#include "nodewise/kernels/spmv.hpp"

#include <algorithm>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/kernels/row_product.hpp"

namespace nodewise::kernels {

namespace {

/// Calls f(i, product of row i with x) for the rows of a thread, and behind(first, last) when some
/// are done whose results are still in a cache.
template <class T, class F, class Behind>
void for_products(const Csr<T>& A, const T* x, LocalIndex first, LocalIndex last, F&& f,
                  Behind&& behind) {
  constexpr LocalIndex in_cache = 1024;
  const Offset* const row_ptr = A.row_ptr.data();
  const LocalIndex* const cols = A.cols.data();
  const T* const vals = A.vals.data();
  const auto run = [&](auto product) {
    const RowBlocks<T> blocks(A, first, last);
    for (LocalIndex i = first; i < last;) {
      const LocalIndex end = i + std::min(in_cache, last - i);
      blocks.upwards(i, end, [=](LocalIndex from, LocalIndex to) {
        for (LocalIndex k = from; k < to; ++k) {
          f(k, product.of(cols, vals, row_ptr[k], row_ptr[k + 1], x));
        }
      });
      behind(i, end);
      i = end;
    }
  };
  ends_are_unpredictable(A.row_ptr, first, last) ? run(UnguessedProduct()) : run(GuessedProduct());
}

/// Calls f(i, product of row i with x) for all rows, on the threads.
template <class T, class F>
void for_each_product(const Csr<T>& A, const T* x, F&& f) {
  parallel::for_rows(A.row_ptr, [&](LocalIndex first, LocalIndex last) {
    for_products(A, x, first, last, f, [](LocalIndex, LocalIndex) {});
  });
}

/// Local. y += alpha A x in the given rows.
template <class T>
void add_rows(T alpha, const Csr<T>& A, std::span<const LocalIndex> rows, const T* x, T* y) {
  const LocalIndex* const cols = A.cols.data();
  const T* const vals = A.vals.data();
  for (const LocalIndex i : rows) {
    y[i] += alpha * row_product(cols, vals, A.begin(i), A.end(i), x);
  }
}

/// Local. Likewise, with those columns j only for which in[j] is `value`.
template <class T>
void add_rows_where(T alpha, const Csr<T>& A, std::span<const LocalIndex> rows, const char* in,
                    char value, const T* x, T* y) {
  for (const LocalIndex i : rows) {
    T sum{};
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const LocalIndex j = A.cols[p];
      if (in[j] == value) sum += A.vals[p] * x[j];
    }
    y[i] += alpha * sum;
  }
}

/// Those of some ascending rows that lie from first to last.
std::span<const LocalIndex> rows_between(std::span<const LocalIndex> rows, LocalIndex first,
                                         LocalIndex last) {
  return {std::lower_bound(rows.begin(), rows.end(), first),
          std::lower_bound(rows.begin(), rows.end(), last)};
}

/// Calls f(i, product of row i with x) for all rows, on the threads, and adds alpha times the
/// ghosts' part to y while what f() has written there is in a cache.
template <class T, class F>
void for_each_product(const Csr<T>& A, const T* x, T alpha, const GhostColumns<T>& ghosts, T* y,
                      F&& f) {
  const char* const comes_first = ghosts.comes_first.data();
  parallel::for_rows(A.row_ptr, [&](LocalIndex first, LocalIndex last) {
    for_products(A, x, first, last, f, [&](LocalIndex begin, LocalIndex end) {
      const std::span<const LocalIndex> rows = rows_between(ghosts.rows, begin, end);
      if (ghosts.comes_first.empty()) return add_rows(alpha, ghosts.A, rows, ghosts.x.data(), y);
      add_rows_where(alpha, ghosts.A, rows, comes_first, char{1}, ghosts.x.data(), y);
      add_rows_where(alpha, ghosts.A, rows, comes_first, char{0}, ghosts.x.data(), y);
    });
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
void spmv(const Csr<T>& A, std::span<const T> x, const GhostColumns<T>& ghosts, std::span<T> y) {
  T* const to = y.data();
  for_each_product(A, x.data(), T{1}, ghosts, to,
                   [to](LocalIndex i, T product) { to[i] = product; });
}

template <class T>
void spmv_add(const Csr<T>& A, std::span<const T> x, const GhostColumns<T>& ghosts,
              std::span<T> y) {
  T* const to = y.data();
  for_each_product(A, x.data(), T{1}, ghosts, to,
                   [to](LocalIndex i, T product) { to[i] += product; });
}

template <class T>
void residual(const Csr<T>& A, std::span<const T> x, const GhostColumns<T>& ghosts,
              std::span<const T> b, std::span<T> r) {
  const T* const from = b.data();
  T* const to = r.data();
  for_each_product(A, x.data(), T{-1}, ghosts, to,
                   [from, to](LocalIndex i, T product) { to[i] = from[i] - product; });
}

namespace {

/// Calls f(rows) for parts of some of a matrix's rows, on the threads, with as many entries each.
template <class T, class F>
void for_some_rows(const Csr<T>& A, std::span<const LocalIndex> rows, F&& f) {
  const int parts = parallel::parts_of(A.cols.size());
  if (parts == 1) return f(rows);
  parallel::run(parts, [&](int part) {
    f(rows_between(rows, parallel::row_part(A.row_ptr, parts, part),
                   parallel::row_part(A.row_ptr, parts, part + 1)));
  });
}

}  // namespace

template <class T>
void spmv_add_rows(T alpha, const Csr<T>& A, std::span<const LocalIndex> rows, std::span<const T> x,
                   std::span<T> y) {
  for_some_rows(A, rows, [&](std::span<const LocalIndex> part) {
    add_rows(alpha, A, part, x.data(), y.data());
  });
}

template <class T>
void spmv_add_rows_where(T alpha, const Csr<T>& A, std::span<const LocalIndex> rows,
                         std::span<const char> in, char value, std::span<const T> x,
                         std::span<T> y) {
  for_some_rows(A, rows, [&](std::span<const LocalIndex> part) {
    add_rows_where(alpha, A, part, in.data(), value, x.data(), y.data());
  });
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
  const int parts = parallel::parts_on_all_threads(A.cols.size() + x.size());
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

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template void spmv(const Csr<T>&, std::span<const T>, std::span<T>);                             \
  template void spmv_add(const Csr<T>&, std::span<const T>, std::span<T>);                         \
  template void residual(const Csr<T>&, std::span<const T>, std::span<const T>, std::span<T>);     \
  template void spmv(const Csr<T>&, std::span<const T>, const GhostColumns<T>&, std::span<T>);     \
  template void spmv_add(const Csr<T>&, std::span<const T>, const GhostColumns<T>&, std::span<T>); \
  template void residual(const Csr<T>&, std::span<const T>, const GhostColumns<T>&,                \
                         std::span<const T>, std::span<T>);                                        \
  template void spmv_add_rows(T, const Csr<T>&, std::span<const LocalIndex>, std::span<const T>,   \
                              std::span<T>);                                                       \
  template void spmv_add_rows_where(T, const Csr<T>&, std::span<const LocalIndex>,                 \
                                    std::span<const char>, char, std::span<const T>,               \
                                    std::span<T>);                                                 \
  template void spmv_transposed_add_rows(const Csr<T>&, std::span<const LocalIndex>,               \
                                         std::span<const T>, std::span<T>);                        \
  template void spmv_transposed_add(const Csr<T>&, std::span<const T>, std::span<T>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
