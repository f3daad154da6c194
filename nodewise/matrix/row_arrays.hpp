// Making a distributed matrix of compressed rows with global columns, as callers hold them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/matrix/assemble.hpp"

namespace nodewise::matrix {

/// This rank's rows: row k has the entries ends[k] .. ends[k + 1], of global columns. `ends` has
/// one number more than there are rows, begins with 0, ascends and ends with the number of entries.
template <class Index, class Value>
struct RowArrays {
  std::span<const Index> ends, cols;
  std::span<const Value> vals;
};

/// Collective. The matrix of which each rank gives its rows; columns in any order, repeated ones
/// are added up. Throws as matrix_from_rows() does. A rank that owns all columns, as one rank does,
/// reads its entries once, on all threads.
template <class Index, class Value>
DistMatrix<double> matrix_from_arrays(const Layout& rows, const Layout& cols,
                                      const RowArrays<Index, Value>& given);

namespace detail {

/// Local. Copies the entries [at, end) with the columns of `cols`; whether it has them all.
template <class Index, class Value>
bool copy_entries(const Layout& cols, const RowArrays<Index, Value>& given, std::size_t at,
                  std::size_t end, LocalIndex* to_cols, double* to_vals) {
  const GlobalIndex begin = cols.begin();
  GlobalIndex least = begin, most = begin;
  for (std::size_t e = at; e < end; ++e) {
    const auto column = static_cast<GlobalIndex>(given.cols[e]);
    least = std::min(least, column);
    most = std::max(most, column);
    // Unsigned: a column may be any number.
    to_cols[e] = static_cast<LocalIndex>(static_cast<std::uint64_t>(column) -
                                         static_cast<std::uint64_t>(begin));
    to_vals[e] = static_cast<double>(given.vals[e]);
  }
  return at == end || (least == begin && most < cols.end());
}

/// Local. The rows where this rank owns all their columns; none where one is outside.
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
  std::vector<char> owned(static_cast<std::size_t>(parts));
  // The parts of products: the thread that reads entries there touches them first here.
  parallel::run(parts, [&](int part) {
    const auto place = [&](int p) {
      return static_cast<std::size_t>(
          ends[static_cast<std::size_t>(parallel::row_part(ends, parts, p))]);
    };
    owned[static_cast<std::size_t>(part)] =
        copy_entries(cols, given, place(part), place(part + 1), to_cols, split.on.vals.data());
  });
  if (std::ranges::find(owned, 0) != owned.end()) return std::nullopt;
  kernels::sort_and_combine_rows(split.on);
  return split;
}

}  // namespace detail

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
    if (cols.n_local() == cols.n_global()) own = detail::own_rows(rows, cols, given);
    return own ? std::move(*own) : detail::generate_rows<double>(rows, cols, row);
  });
}

}  // namespace nodewise::matrix
