#include "nodewise/kernels/csr_ops.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "nodewise/base/parallel.hpp"
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

template <class T>
bool all_rows_ascend(const Csr<T>& A) {
  std::atomic<bool> ascend = true;
  parallel::for_rows(A.row_ptr, [&](LocalIndex begin, LocalIndex end) {
    for (LocalIndex i = begin; i < end && ascend.load(std::memory_order_relaxed); ++i) {
      const LocalIndex* const first = A.cols.data() + A.begin(i);
      const LocalIndex* const last = A.cols.data() + A.end(i);
      if (std::adjacent_find(first, last, std::greater_equal<>()) != last) ascend = false;
    }
  });
  return ascend;
}

}  // namespace

template <class T>
Offset sort_and_combine_rows(Csr<T>& A) {
  if (A.nnz() == 0) return 0;
  if (all_rows_ascend(A)) return 0;
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

namespace {

/// For each part of the rows of A and each column, where the part's entries of that column are to
/// stand in the transpose; row_ptr becomes that of the transpose.
template <class T>
std::vector<Offset> places_by_part(const Csr<T>& A, int parts, Offset* row_ptr) {
  const auto n = static_cast<std::size_t>(A.n_cols);
  std::vector<Offset> next(n * static_cast<std::size_t>(parts), 0);
  parallel::run(parts, [&](int part) {
    Offset* const count = next.data() + n * static_cast<std::size_t>(part);
    const Offset end = A.begin(parallel::row_part(A.row_ptr, parts, part + 1));
    for (Offset k = A.begin(parallel::row_part(A.row_ptr, parts, part)); k < end; ++k) {
      ++count[A.cols[static_cast<std::size_t>(k)]];
    }
  });
  Offset place = 0;
  for (std::size_t j = 0; j < n; ++j) {
    row_ptr[j] = place;
    for (std::size_t at = j; at < next.size(); at += n) {
      place += std::exchange(next[at], place);
    }
  }
  row_ptr[n] = place;
  return next;
}

}  // namespace

template <class T>
Csr<T> transpose(const Csr<T>& A) {
  Csr<T> B(A.n_cols, A.n_rows);
  B.cols.resize(A.cols.size());
  B.vals.resize(A.vals.size());
  LocalIndex* const cols = B.cols.data();
  T* const vals = B.vals.data();
  const int parts = parallel::parts_of(A.cols.size() + A.row_ptr.size());
  std::vector<Offset> places = places_by_part(A, parts, B.row_ptr.data());
  parallel::run(parts, [&](int part) {
    Offset* const next =
        places.data() + static_cast<std::size_t>(A.n_cols) * static_cast<std::size_t>(part);
    const LocalIndex end = parallel::row_part(A.row_ptr, parts, part + 1);
    for (LocalIndex i = parallel::row_part(A.row_ptr, parts, part); i < end; ++i) {
      for (Offset k = A.begin(i); k < A.end(i); ++k) {
        const Offset p = next[A.cols[static_cast<std::size_t>(k)]]++;
        cols[p] = i;
        vals[p] = A.vals[static_cast<std::size_t>(k)];
      }
    }
  });
  return B;
}

#define NODEWISE_INSTANTIATE(T)                   \
  template Offset sort_and_combine_rows(Csr<T>&); \
  template Csr<T> transpose(const Csr<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
