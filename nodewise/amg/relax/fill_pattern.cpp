#include "nodewise/amg/relax/fill_pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

namespace nodewise::amg::relax {

namespace {

constexpr int no_level = -1;

/// Columns of a row that are still to be eliminated, the smallest first.
using ColumnsToCome =
    std::priority_queue<LocalIndex, std::vector<LocalIndex>, std::greater<LocalIndex>>;

/// The rows so far, and the one that is being made.
class FillPattern {
 public:
  FillPattern(const kernels::Csr<double>& A, int levels)
      : A_(A),
        most_(levels),
        row_ptr_(static_cast<std::size_t>(A.n_rows) + 1, 0),
        level_of_(static_cast<std::size_t>(A.n_rows), no_level) {
    upper_.reserve(level_of_.size());
    cols_.reserve(A.cols.size());
    levels_.reserve(A.cols.size());
  }

  kernels::Csr<double> run() && {
    for (LocalIndex i = 0; i < A_.n_rows; ++i) add_row(i);
    kernels::Csr<double> pattern;
    pattern.n_rows = pattern.n_cols = A_.n_rows;
    pattern.row_ptr = std::move(row_ptr_);
    pattern.cols = std::move(cols_);
    return pattern;
  }

 private:
  void add_row(LocalIndex i);
  void add(LocalIndex i, LocalIndex j, int level);

  const kernels::Csr<double>& A_;
  int most_;
  Array<Offset> row_ptr_;
  Array<LocalIndex> cols_;
  std::vector<int> levels_;    // of the entries in cols_
  std::vector<Offset> upper_;  // where a row's entries right of the diagonal begin
  std::vector<int> level_of_;  // of the columns of the row, no_level elsewhere
  std::vector<LocalIndex> row_;
  ColumnsToCome to_come_;
};

void FillPattern::add(LocalIndex i, LocalIndex j, int level) {
  int& known = level_of_[static_cast<std::size_t>(j)];
  if (known != no_level) {
    known = std::min(known, level);
    return;
  }
  known = level;
  row_.push_back(j);
  if (j < i) to_come_.push(j);
}

void FillPattern::add_row(LocalIndex i) {
  row_.clear();
  add(i, i, 0);
  for (Offset p = A_.begin(i); p < A_.end(i); ++p) add(i, A_.cols[static_cast<std::size_t>(p)], 0);
  while (!to_come_.empty()) {
    const auto k = static_cast<std::size_t>(to_come_.top());
    to_come_.pop();
    const int left = most_ - level_of_[k] - 1;
    for (auto q = static_cast<std::size_t>(upper_[k]); std::cmp_less(q, row_ptr_[k + 1]); ++q) {
      if (levels_[q] <= left) add(i, cols_[q], level_of_[k] + levels_[q] + 1);
    }
  }
  std::sort(row_.begin(), row_.end());
  for (const LocalIndex j : row_) {
    cols_.push_back(j);
    int& level = level_of_[static_cast<std::size_t>(j)];
    levels_.push_back(level);
    level = no_level;
    if (j == i) upper_.push_back(static_cast<Offset>(cols_.size()));
  }
  row_ptr_[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(cols_.size());
}

}  // namespace

kernels::Csr<double> fill_pattern(const kernels::Csr<double>& A, int levels) {
  return FillPattern(A, levels).run();
}

}  // namespace nodewise::amg::relax
