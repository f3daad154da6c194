#include "nodewise/kernels/csr_ops.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "nodewise/kernels/row_sorter.hpp"

namespace nodewise::kernels {

namespace {

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

/// Sorts rows in place.
template <class T>
class InPlaceSorter {
 public:
  void sort(LocalIndex* cols, T* vals, Offset n) {
    constexpr Offset short_row = 8;
    if (n <= short_row) return insertion_sort(cols, vals, n);
    const auto length = static_cast<std::size_t>(n);
    if (cols_.size() < length) cols_.resize(2 * length);
    std::copy(cols, cols + n, cols_.begin());
    vals_.assign(vals, vals + n);
    sorter_.sort(cols_.data(), vals_.data(), length, cols, vals);
  }

 private:
  std::vector<LocalIndex> cols_ = std::vector<LocalIndex>(RowSorter<T>::readable);
  std::vector<T> vals_;
  RowSorter<T> sorter_;
};

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
  InPlaceSorter<T> sorter;
  Offset out = 0;
  LocalIndex* cols = A.cols.data();
  T* vals = A.vals.data();
  Offset* row_ptr = A.row_ptr.data();
  Offset begin = 0;
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    const Offset end = row_ptr[i + 1];
    const auto out_of_order = std::adjacent_find(cols + begin, cols + end, std::greater_equal<>());
    if (out == begin && out_of_order == cols + end) {
      out = end;  // the usual case: nothing to move
    } else {
      sorter.sort(cols + begin, vals + begin, end - begin);
      out = combine_row(cols, vals, begin, end, out);
    }
    begin = end;
    row_ptr[i + 1] = out;
  }
  const Offset combined = begin - out;
  A.cols.resize(static_cast<std::size_t>(out));
  A.vals.resize(static_cast<std::size_t>(out));
  return combined;
}

template <class T>
Csr<T> transpose(const Csr<T>& A) {
  Csr<T> B(A.n_cols, A.n_rows);
  B.cols.resize(A.cols.size());
  B.vals.resize(A.vals.size());
  Offset* row_ptr = B.row_ptr.data();
  LocalIndex* cols = B.cols.data();
  for (const LocalIndex col : A.cols) ++row_ptr[col + 1];
  for (LocalIndex j = 0; j < B.n_rows; ++j) row_ptr[j + 1] += row_ptr[j];
  std::vector<Offset> next(row_ptr, row_ptr + B.n_rows);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto j = static_cast<std::size_t>(A.cols[static_cast<std::size_t>(k)]);
      const auto p = static_cast<std::size_t>(next[j]++);
      cols[p] = i;
      B.vals[p] = A.vals[static_cast<std::size_t>(k)];
    }
  }
  return B;
}

#define NODEWISE_INSTANTIATE(T)                   \
  template Offset sort_and_combine_rows(Csr<T>&); \
  template Csr<T> transpose(const Csr<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
