// An order of rows for triangular solves on several threads.
#pragma once

#include <cstddef>
#include <vector>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::amg::relax {

enum class Triangle { lower, upper };

/// The rows of a triangle of a square matrix by levels: those of one have entries for rows of
/// earlier ones only, so that they can be solved for at once (Saad 2003, section 11.6.3). Every
/// row's own arithmetic stays what it is, and with it the result, bit for bit.
class RowLevels {
 public:
  /// Local. Finds the levels if there are several threads: one pass over the places of A, on one of
  /// them, which ends as soon as there are so many levels that they have too few entries on average
  /// to be worth threads, which all meet after each level. Then rows stay in their order, as they
  /// do for one thread.
  template <class T>
  RowLevels(const kernels::Csr<T>& A, Triangle triangle);

  /// Local. Calls f(row, part) for every row, after those that it has entries for. Parts are below
  /// parallel::threads(), and each of them is one thread's at a time.
  template <class F>
  void for_each(const F& f) const;

  /// Returns the number of levels; 0 where the rows stay in their order.
  std::size_t n_levels() const { return begin_.empty() ? 0 : begin_.size() - 1; }
  std::size_t memory_bytes() const {
    return rows_.size() * sizeof(LocalIndex) + begin_.size() * sizeof(std::size_t);
  }

 private:
  LocalIndex n_rows_;
  Triangle triangle_;
  std::size_t work_ = 1;            // of a row, in entries
  std::vector<LocalIndex> rows_;    // level by level, in their order within one
  std::vector<std::size_t> begin_;  // of the levels in that list, and the end of the last
};

template <class F>
void RowLevels::for_each(const F& f) const {
  if (begin_.empty() || parallel::threads() == 1) {
    if (triangle_ == Triangle::lower) {
      for (LocalIndex i = 0; i < n_rows_; ++i) f(i, 0);
    } else {
      for (LocalIndex i = n_rows_ - 1; i >= 0; --i) f(i, 0);
    }
    return;
  }
  for (std::size_t level = 0; level + 1 < begin_.size(); ++level) {
    const std::size_t first = begin_[level];
    const std::size_t n = begin_[level + 1] - first;
    const int parts = parallel::parts_of(n * work_);
    parallel::run(parts, [&](int part) {
      const std::size_t end = first + parallel::equal_part(n, parts, part + 1);
      for (std::size_t k = first + parallel::equal_part(n, parts, part); k < end; ++k) {
        f(rows_[k], part);
      }
    });
  }
}

}  // namespace nodewise::amg::relax
