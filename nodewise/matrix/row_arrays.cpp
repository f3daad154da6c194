#include "nodewise/matrix/row_arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/assemble.hpp"

namespace nodewise::matrix {

namespace {

/// Local. Copies the columns at [at, end) as local numbers, and returns at how many places they do
/// not ascend, fewer than 2^32: without branches, so that compilers make vector instructions of it.
template <class Index>
std::uint32_t copy_columns(std::span<const Index> from, Offset at, Offset end, GlobalIndex begin,
                           LocalIndex* to) {
  const Index* const column = from.data();
  const auto first = static_cast<std::uint32_t>(begin);
  // Unsigned: before they are looked at, columns may be any numbers.
  const auto local = [&](Offset e) {
    return static_cast<LocalIndex>(static_cast<std::uint32_t>(column[e]) - first);
  };
  std::uint32_t falls = 0;
  for (Offset e = at; e + 1 < end; ++e) {
    falls += column[e + 1] <= column[e] ? 1 : 0;
    to[e] = local(e);
  }
  to[end - 1] = local(end - 1);
  return falls;
}

/// Local. Copies the columns of the rows [row, last), some rows at a time, so that they are in the
/// cache when their ends are looked at. Returns whether columns ascend in every row, and are all
/// this rank's: where they do not ascend has to be between rows, and the first and the last of a
/// row speak for the others.
template <class Index>
bool copy_rows(std::span<const Index> from, std::span<const Offset> ends, std::size_t row,
               std::size_t last, const Layout& cols, LocalIndex* to) {
  constexpr std::size_t rows_at_a_time = 256;
  constexpr Offset most_counted = std::numeric_limits<std::uint32_t>::max();
  bool right = true;
  while (row < last && right) {
    const std::size_t next = std::min(row + rows_at_a_time, last);
    const Offset at = ends[row], end = ends[next];
    std::uint32_t falls = at < end ? copy_columns(from, at, end, cols.begin(), to) : 0;
    for (; row < next; ++row) {
      if (ends[row] == ends[row + 1]) continue;
      const auto e = static_cast<std::size_t>(ends[row]);
      right = right && from[e] >= cols.begin() &&
              from[static_cast<std::size_t>(ends[row + 1]) - 1] < cols.end();
      if (ends[row] > at) falls -= from[e] <= from[e - 1] ? 1 : 0;
    }
    right = right && falls == 0 && end - at <= most_counted;
  }
  return right;
}

/// Local. The rows where this rank owns all their columns, which ascend in every row; none where it
/// is not so.
template <class Index, class Value>
std::optional<SplitRows<double>> own_rows(const Layout& rows, const Layout& cols,
                                          const RowArrays<Index, Value>& given) {
  SplitRows<double> split;
  split.on = Csr<double>(rows.n_local(), cols.n_local());
  split.off = Csr<double>(rows.n_local(), 0);
  std::copy(given.ends.begin(), given.ends.end(), split.on.row_ptr.data());
  split.on.cols.resize(given.cols.size());
  split.on.vals.resize(given.cols.size());
  LocalIndex* const to_cols = split.on.cols.data();
  const std::span<const Offset> ends = std::as_const(split.on.row_ptr);
  const int parts = parallel::parts_of(given.cols.size());
  std::vector<char> right(static_cast<std::size_t>(parts));
  // The parts of products: the thread that reads entries there touches them first here.
  parallel::run(parts, [&](int part) {
    const auto row = static_cast<std::size_t>(parallel::row_part(ends, parts, part));
    const auto last = static_cast<std::size_t>(parallel::row_part(ends, parts, part + 1));
    right[static_cast<std::size_t>(part)] = copy_rows(given.cols, ends, row, last, cols, to_cols);
    std::copy(given.vals.begin() + ends[row], given.vals.begin() + ends[last],
              split.on.vals.begin() + ends[row]);
  });
  if (std::ranges::find(right, 0) != right.end()) return std::nullopt;
  return split;
}

}  // namespace

template <class Index, class Value>
DistMatrix<double> matrix_from_arrays(const Layout& rows, const Layout& cols,
                                      const RowArrays<Index, Value>& given) {
  const auto row = [&](GlobalIndex i, const auto& emit) {
    const auto k = static_cast<std::size_t>(i - rows.begin());
    for (auto e = static_cast<std::size_t>(given.ends[k]);
         e < static_cast<std::size_t>(given.ends[k + 1]); ++e) {
      emit(static_cast<GlobalIndex>(given.cols[e]), static_cast<double>(given.vals[e]));
    }
  };
  return DistMatrix<double>(rows, cols, [&] {
    std::optional<SplitRows<double>> own;
    if (cols.n_local() == cols.n_global()) own = own_rows(rows, cols, given);
    return own ? std::move(*own) : detail::generate_rows<double>(rows, cols, row);
  });
}

#define NODEWISE_INSTANTIATE(Index, Value)                                          \
  template DistMatrix<double> matrix_from_arrays(const Layout& rows, const Layout&, \
                                                 const RowArrays<Index, Value>&);
NODEWISE_INSTANTIATE(std::int32_t, float)
NODEWISE_INSTANTIATE(std::int32_t, double)
NODEWISE_INSTANTIATE(std::int64_t, float)
NODEWISE_INSTANTIATE(std::int64_t, double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
