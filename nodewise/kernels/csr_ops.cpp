#include "nodewise/kernels/csr_ops.hpp"

#include <algorithm>
#include <functional>
#include <limits>

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

/// Moves a sorted row to `out`, equal columns added up; returns where it ends.
template <class T>
Offset combine_row(LocalIndex* cols, T* vals, Offset begin, Offset end, Offset out) {
  const Offset row_out = out;
  for (Offset k = begin; k < end; ++k) {
    if (out > row_out && cols[out - 1] == cols[k]) {
      vals[out - 1] += vals[k];
    } else {
      cols[out] = cols[k];
      vals[out++] = vals[k];
    }
  }
  return out;
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
    const auto out_of_order = std::adjacent_find(cols + begin, cols + end, std::greater_equal<>());
    if (out == begin && out_of_order == cols + end) {
      out = end;  // the usual case: nothing to move
    } else {
      sort_row(cols + begin, vals + begin, end - begin, scratch);
      out = combine_row(cols, vals, begin, end, out);
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

/// Calls f(column) for every column that the product of row i of A with B touches, repeatedly.
template <class T, class F>
void for_each_touched(const ExtendedRows<T>& A, LocalIndex i, const ExtendedRows<T>& B, F&& f) {
  A.for_each_piece(i, [&](const LocalIndex* ks, const T*, Offset n_k, LocalIndex k_shift) {
    for (Offset p = 0; p < n_k; ++p) {
      B.for_each_piece(ks[p] + k_shift,
                       [&](const LocalIndex* js, const T*, Offset n_j, LocalIndex j_shift) {
                         for (Offset q = 0; q < n_j; ++q) f(js[q] + j_shift);
                       });
    }
  });
}

/// One product, row by row. marker_[j] is the place of column j in C, counted from base_, if it is
/// not below the begin of the current row; so no mark needs to be erased. Marks are 32 bits wide to
/// stay in the cache; base_ moves on before they overflow.
template <class T>
class Product {
 public:
  Product(const ExtendedRows<T>& A, const ExtendedRows<T>& B, LocalIndex n_rows)
      : A_(A), B_(B), C_(n_rows, B.n_cols), marker_(static_cast<std::size_t>(B.n_cols), -1) {}

  /// row_of(r) is the row of A that makes row r.
  template <class RowOf>
  Csr<T> run(RowOf&& row_of) {
    resize(estimate(row_of));
    for (LocalIndex r = 0; r < C_.n_rows; ++r) {
      ensure_room(row_of(r));
      if (out_ - base_ > max_mark - B_.n_cols) restart_marks();
      multiply_row(row_of(r));
      C_.row_ptr[static_cast<std::size_t>(r) + 1] = out_;
    }
    resize(static_cast<std::size_t>(out_));
    return std::move(C_);
  }

 private:
  static constexpr Offset max_mark = std::numeric_limits<LocalIndex>::max();

  void restart_marks() {
    std::fill(marker_.begin(), marker_.end(), LocalIndex{-1});
    base_ = out_;
  }

  void resize(std::size_t n) {
    C_.cols.resize(n);
    C_.vals.resize(n);
  }

  /// The nonzeros to expect, from every 64th row and with a margin.
  template <class RowOf>
  std::size_t estimate(RowOf&& row_of) {
    constexpr LocalIndex stride = 64;
    Offset found = 0;
    Offset sampled = 0;
    for (LocalIndex r = 0; r < C_.n_rows; r += stride, ++sampled) {
      const LocalIndex mark = -2 - r;
      for_each_touched(A_, row_of(r), B_, [&](LocalIndex j) {
        LocalIndex& seen = marker_[static_cast<std::size_t>(j)];
        found += seen != mark ? 1 : 0;
        seen = mark;
      });
    }
    if (sampled == 0) return 0;
    const double per_row = static_cast<double>(found) / static_cast<double>(sampled);
    return static_cast<std::size_t>(1.06 * per_row * C_.n_rows) + 1024;
  }

  void ensure_room(LocalIndex i) {
    // No row is longer than C is wide; only near the end of the arrays is it counted.
    if (C_.cols.size() >= static_cast<std::size_t>(out_ + B_.n_cols)) return;
    Offset most = 0;
    for_each_touched(A_, i, B_, [&](LocalIndex) { ++most; });
    const auto needed = static_cast<std::size_t>(out_ + std::min(most, Offset{B_.n_cols}));
    if (C_.cols.size() < needed) resize(std::max(needed, C_.cols.size() + C_.cols.size() / 4));
  }

  void multiply_row(LocalIndex i) {
    LocalIndex* cols = C_.cols.data() + base_;
    T* vals = C_.vals.data() + base_;
    LocalIndex* marker = marker_.data();
    const auto begin = static_cast<LocalIndex>(out_ - base_);
    LocalIndex out = begin;
    A_.for_each_piece(i, [&](const LocalIndex* ks, const T* as, Offset n_k, LocalIndex k_shift) {
      for (Offset p = 0; p < n_k; ++p) {
        const T a = as[p];
        B_.for_each_piece(ks[p] + k_shift,
                          [&](const LocalIndex* js, const T* bs, Offset n_j, LocalIndex j_shift) {
                            for (Offset q = 0; q < n_j; ++q) {
                              const LocalIndex j = js[q] + j_shift;
                              const LocalIndex mark = marker[j];
                              if (mark >= begin) {
                                vals[mark] += a * bs[q];
                              } else {
                                marker[j] = out;
                                cols[out] = j;
                                vals[out++] = a * bs[q];
                              }
                            }
                          });
      }
    });
    out_ = base_ + out;
  }

  const ExtendedRows<T>& A_;
  const ExtendedRows<T>& B_;
  Csr<T> C_;
  std::vector<LocalIndex> marker_;
  Offset base_ = 0;
  Offset out_ = 0;
};

}  // namespace

template <class T>
Csr<T> spgemm(const ExtendedRows<T>& A, LocalIndex n_rows, const ExtendedRows<T>& B) {
  return Product<T>(A, B, n_rows).run([](LocalIndex r) { return r; });
}

template <class T>
Csr<T> spgemm_rows(const ExtendedRows<T>& A, std::span<const LocalIndex> rows,
                   const ExtendedRows<T>& B) {
  return Product<T>(A, B, narrow<LocalIndex>(rows.size(), "rows:")).run([&](LocalIndex r) {
    return rows[static_cast<std::size_t>(r)];
  });
}

#define NODEWISE_INSTANTIATE(T)                                                       \
  template Offset sort_and_combine_rows(Csr<T>&);                                     \
  template Csr<T> transpose(const Csr<T>&);                                           \
  template Csr<T> spgemm(const ExtendedRows<T>&, LocalIndex, const ExtendedRows<T>&); \
  template Csr<T> spgemm_rows(const ExtendedRows<T>&, std::span<const LocalIndex>,    \
                              const ExtendedRows<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
