// Going through the rows of a matrix with an eye on the memory ahead.
#pragma once

#include <algorithm>
#include <cstddef>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

/// Asks the memory for the entries of rows ahead of those in use, a few rows at a time. The
/// hardware's own prefetching stops at page borders, which short rows of two arrays cross all the
/// time: a product with a large matrix takes half as long again without. Matrices that fit into a
/// cache are left alone, where asking takes up to a third of short rows' time.
template <class T>
class RowBlocks {
 public:
  /// The rows from first up to last, the latter not included.
  RowBlocks(const Csr<T>& A, LocalIndex first, LocalIndex last)
      : row_ptr_(A.row_ptr.data()),
        cols_(A.cols.data()),
        vals_(A.vals.data()),
        begin_(row_ptr_[first]),
        end_(row_ptr_[last]) {
    const Offset entries = end_ - begin_;
    const Offset rows = last - first;
    const std::size_t cached = std::size_t{entries < long_row * rows ? 8U : 1U} << 20;
    const auto bytes = static_cast<std::size_t>(entries) * (sizeof(LocalIndex) + sizeof(T));
    if (bytes <= cached) return;
    rows_ = static_cast<LocalIndex>(std::max<Offset>(at_once * rows / entries, 1));
  }

  /// Calls f(begin, end) for blocks of rows that make up those from first to last, in their order.
  template <class F>
  void upwards(LocalIndex first, LocalIndex last, F&& f) const {
    if (rows_ == 0) return f(first, last);
    for (LocalIndex i = first; i < last;) {
      const LocalIndex end = i + std::min(rows_, last - i);
      fetch(row_ptr_[i] + distance);
      f(i, end);
      i = end;
    }
  }
  /// The same from the last block to the first.
  template <class F>
  void downwards(LocalIndex first, LocalIndex last, F&& f) const {
    if (rows_ == 0) return f(first, last);
    for (LocalIndex i = last; i > first;) {
      const LocalIndex begin = i - std::min(rows_, i - first);
      fetch(row_ptr_[begin] - distance);
      f(begin, i);
      i = begin;
    }
  }

 private:
  static constexpr Offset long_row = 16;
  static constexpr Offset distance = 1024;
  static constexpr std::size_t line = 64;
  // More hold up what is waited for: a core waits for some 16 lines at a time, and 9 (double) or 14
  // are fetched for a block.
  static constexpr Offset at_once = sizeof(T) > sizeof(float) ? 40 : 96;
  static constexpr std::size_t fetched = static_cast<std::size_t>(at_once) + 8;

  // Always as many lines, for a loop whose end is known. Inlined, or GCC takes it for a function
  // without effect and drops the call.
  [[gnu::always_inline]] void fetch(Offset from) const {
    from = std::clamp(from, begin_, end_);
    for (std::size_t k = 0; k < fetched; k += line / sizeof(LocalIndex)) {
      __builtin_prefetch(cols_ + from + k);
    }
    for (std::size_t k = 0; k < fetched; k += line / sizeof(T))
      __builtin_prefetch(vals_ + from + k);
  }

  const Offset* row_ptr_;
  const LocalIndex* cols_;
  const T* vals_;
  Offset begin_, end_;
  LocalIndex rows_ = 0;  // of a block; 0: all
};

}  // namespace nodewise::kernels
