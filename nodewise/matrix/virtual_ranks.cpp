#include "nodewise/matrix/virtual_ranks.hpp"

#include <algorithm>

#include "nodewise/base/error.hpp"
#include "nodewise/matrix/row_runs.hpp"

namespace nodewise::matrix {

namespace {

bool are_ranges_of(std::span<const GlobalIndex> starts, GlobalIndex n) {
  return !starts.empty() && starts.front() == 0 && starts.back() == n &&
         std::is_sorted(starts.begin(), starts.end());
}

template <class T>
void require_ranges(const kernels::Csr<T>& A, std::span<const GlobalIndex> rows,
                    std::span<const GlobalIndex> cols) {
  if (rows.size() != cols.size() || !are_ranges_of(rows, A.n_rows) ||
      !are_ranges_of(cols, A.n_cols)) {
    throw Error(ErrorCode::invalid_argument,
                "virtual ranks: their ranges must hold every row and column once");
  }
}

}  // namespace

template <class T>
comm::Records<GlobalIndex> virtual_ghosts(const kernels::Csr<T>& A,
                                          std::span<const GlobalIndex> rows,
                                          std::span<const GlobalIndex> cols) {
  require_ranges(A, rows, cols);
  comm::Records<GlobalIndex> ghosts;
  std::vector<std::int32_t> last_rank(static_cast<std::size_t>(A.n_cols), -1);  // that has it
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    const auto rank = static_cast<std::int32_t>(r);
    const std::size_t before = ghosts.data.size();
    const auto end = static_cast<std::size_t>(A.row_ptr[static_cast<std::size_t>(rows[r + 1])]);
    for (auto k = static_cast<std::size_t>(A.row_ptr[static_cast<std::size_t>(rows[r])]); k < end;
         ++k) {
      const LocalIndex col = A.cols[k];
      if (col >= cols[r] && col < cols[r + 1]) continue;
      std::int32_t& last = last_rank[static_cast<std::size_t>(col)];
      if (last == rank) continue;
      last = rank;
      ghosts.data.push_back(col);
    }
    std::sort(ghosts.data.begin() + static_cast<std::ptrdiff_t>(before), ghosts.data.end());
    ghosts.offsets.push_back(static_cast<Offset>(ghosts.data.size()));
  }
  return ghosts;
}

template <class T>
std::vector<Offset> virtual_row_words(const kernels::Csr<T>& A, std::span<const GlobalIndex> rows,
                                      std::span<const GlobalIndex> cols) {
  require_ranges(A, rows, cols);
  std::vector<Offset> words = {0};
  words.reserve(static_cast<std::size_t>(A.n_rows) + 1);
  RunCounter<T> runs;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    const auto push = [&](LocalIndex i, bool owned) {
      for (Offset k = A.begin(i); k < A.end(i); ++k) {
        const LocalIndex col = A.cols[static_cast<std::size_t>(k)];
        if ((col >= cols[r] && col < cols[r + 1]) == owned) runs.push(col);
      }
    };
    for (auto i = static_cast<LocalIndex>(rows[r]); i < rows[r + 1]; ++i) {
      push(i, true);
      push(i, false);
      runs.end_row();
      words.push_back(runs.words());
    }
  }
  return words;
}

#define NODEWISE_INSTANTIATE(T)                                                            \
  template comm::Records<GlobalIndex> virtual_ghosts(                                      \
      const kernels::Csr<T>&, std::span<const GlobalIndex>, std::span<const GlobalIndex>); \
  template std::vector<Offset> virtual_row_words(                                          \
      const kernels::Csr<T>&, std::span<const GlobalIndex>, std::span<const GlobalIndex>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
