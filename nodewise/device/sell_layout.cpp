#include "nodewise/device/sell_layout.hpp"

#include <algorithm>
#include <numeric>

namespace nodewise::device {

namespace {

/// The rows by length, longest first, in each stretch of sorted_rows.
template <class Length>
std::vector<LocalIndex> sorted_by_length(LocalIndex n, const Length& length) {
  std::vector<LocalIndex> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), LocalIndex{0});
  for (LocalIndex first = 0; first < n; first += sorted_rows) {
    const LocalIndex end = first + std::min(sorted_rows, n - first);
    std::stable_sort(rows.begin() + first, rows.begin() + end,
                     [&](LocalIndex a, LocalIndex b) { return length(a) > length(b); });
  }
  return rows;
}

/// Where slices begin: each as wide as its first row, which is its longest.
std::vector<Offset> slice_begins(const std::vector<LocalIndex>& lengths) {
  std::vector<Offset> begins = {0};
  for (std::size_t place = 0; place < lengths.size(); place += slice_rows) {
    begins.push_back(begins.back() + Offset{slice_rows} * lengths[place]);
  }
  return begins;
}

}  // namespace

template <class T>
SellLayout<T> sell_layout(const kernels::Csr<T>& on, const kernels::Csr<T>& off) {
  const auto length = [&](LocalIndex i) {
    return narrow<LocalIndex>(on.length(i) + off.length(i), "the length of a row");
  };
  SellLayout<T> sell;
  sell.n_rows = on.n_rows;
  sell.n_cols = narrow<LocalIndex>(Offset{on.n_cols} + off.n_cols, "the number of columns");
  sell.nnz = on.nnz() + off.nnz();
  sell.rows = sorted_by_length(on.n_rows, length);
  for (const LocalIndex row : sell.rows) sell.lengths.push_back(length(row));
  sell.slices = slice_begins(sell.lengths);
  sell.cols.assign(static_cast<std::size_t>(sell.slices.back()), 0);
  sell.vals.assign(static_cast<std::size_t>(sell.slices.back()), T{});
  for (std::size_t place = 0; place < sell.rows.size(); ++place) {
    auto at = static_cast<std::size_t>(sell.slices[place / slice_rows]) + place % slice_rows;
    const auto put = [&](const kernels::Csr<T>& from, LocalIndex first_column) {
      const LocalIndex row = sell.rows[place];
      for (auto k = static_cast<std::size_t>(from.begin(row));
           k < static_cast<std::size_t>(from.end(row)); ++k, at += slice_rows) {
        sell.cols[at] = first_column + from.cols[k];
        sell.vals[at] = from.vals[k];
      }
    };
    put(on, 0);
    put(off, on.n_cols);
  }
  return sell;
}

template SellLayout<float> sell_layout(const kernels::Csr<float>&, const kernels::Csr<float>&);
template SellLayout<double> sell_layout(const kernels::Csr<double>&, const kernels::Csr<double>&);

}  // namespace nodewise::device
