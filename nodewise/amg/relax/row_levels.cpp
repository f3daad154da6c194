#include "nodewise/amg/relax/row_levels.hpp"

#include <algorithm>
#include <numeric>

namespace nodewise::amg::relax {

namespace {

/// The level of every row: one more than the last of those that it has entries for. Nothing as soon
/// as there are so many levels that they are not worth_while(number).
template <class T, class WorthWhile>
std::vector<LocalIndex> levels_of(const kernels::Csr<T>& A, Triangle triangle,
                                  const WorthWhile& worth_while) {
  std::vector<LocalIndex> levels(static_cast<std::size_t>(A.n_rows), 0);
  LocalIndex last = 0;
  for (LocalIndex k = 0; k < A.n_rows; ++k) {
    const LocalIndex i = triangle == Triangle::lower ? k : A.n_rows - 1 - k;
    LocalIndex level = 0;
    for (Offset p = A.begin(i); p < A.end(i); ++p) {
      const LocalIndex j = A.cols[static_cast<std::size_t>(p)];
      const bool earlier = triangle == Triangle::lower ? j < i : j > i;
      if (earlier) level = std::max(level, levels[static_cast<std::size_t>(j)] + 1);
    }
    levels[static_cast<std::size_t>(i)] = level;
    if (level <= last) continue;
    last = level;
    if (!worth_while(static_cast<std::size_t>(last) + 1)) return {};
  }
  return levels;
}

}  // namespace

template <class T>
RowLevels::RowLevels(const kernels::Csr<T>& A, Triangle triangle)
    : n_rows_(A.n_rows), triangle_(triangle) {
  if (parallel::threads() == 1 || n_rows_ == 0) return;
  // About half of the entries are in the triangle.
  const std::size_t work = A.cols.size() / 2 + static_cast<std::size_t>(n_rows_);
  const std::vector<LocalIndex> levels = levels_of(
      A, triangle, [&](std::size_t n_levels) { return parallel::parts_of(work / n_levels) > 1; });
  if (levels.empty()) return;
  const auto n_levels =
      static_cast<std::size_t>(*std::max_element(levels.begin(), levels.end())) + 1;
  work_ = std::max<std::size_t>(1, work / levels.size());
  begin_.assign(n_levels + 1, 0);
  for (const LocalIndex level : levels) ++begin_[static_cast<std::size_t>(level) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  rows_.resize(levels.size());
  for (LocalIndex i = 0; i < n_rows_; ++i) {
    rows_[next[static_cast<std::size_t>(levels[static_cast<std::size_t>(i)])]++] = i;
  }
}

template RowLevels::RowLevels(const kernels::Csr<float>&, Triangle);
template RowLevels::RowLevels(const kernels::Csr<double>&, Triangle);

}  // namespace nodewise::amg::relax
