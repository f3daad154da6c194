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

/// The entries of rows of [on | off], by row and place of their beginning, `stride` apart.
template <class T>
class Filler {
 public:
  Filler(const kernels::Csr<T>& on, const kernels::Csr<T>& off, SellLayout<T>& to)
      : on_(on), off_(off), to_(to) {
    to.cols.assign(static_cast<std::size_t>(to.slices.back()), 0);
    to.vals.assign(static_cast<std::size_t>(to.slices.back()), T{});
  }
  void put(LocalIndex row, Offset begin, LocalIndex stride) {
    auto at = static_cast<std::size_t>(begin);
    const auto copy = [&](const kernels::Csr<T>& from, LocalIndex first_column) {
      for (auto k = static_cast<std::size_t>(from.begin(row));
           k < static_cast<std::size_t>(from.end(row));
           ++k, at += static_cast<std::size_t>(stride)) {
        to_.cols[at] = first_column + from.cols[k];
        to_.vals[at] = from.vals[k];
      }
    };
    copy(on_, 0);
    copy(off_, on_.n_cols);
  }

 private:
  const kernels::Csr<T>& on_;
  const kernels::Csr<T>& off_;
  SellLayout<T>& to_;
};

template <class T>
void lay_out_slices(const kernels::Csr<T>& on, const kernels::Csr<T>& off, SellLayout<T>& sell) {
  const auto length = [&](LocalIndex i) {
    return narrow<LocalIndex>(on.length(i) + off.length(i), "the length of a row");
  };
  sell.rows = sorted_by_length(on.n_rows, length);
  for (const LocalIndex row : sell.rows) sell.lengths.push_back(length(row));
  sell.slices = slice_begins(sell.lengths);
  Filler<T> filler(on, off, sell);
  for (std::size_t place = 0; place < sell.rows.size(); ++place) {
    const auto in_slice = static_cast<Offset>(place % slice_rows);
    filler.put(sell.rows[place], sell.slices[place / slice_rows] + in_slice, slice_rows);
  }
}

template <class T>
void lay_out_rows(const kernels::Csr<T>& on, const kernels::Csr<T>& off, SellLayout<T>& sell) {
  sell.slices = {0};
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    sell.slices.push_back(sell.slices.back() + on.length(i) + off.length(i));
  }
  Filler<T> filler(on, off, sell);
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    filler.put(i, sell.slices[static_cast<std::size_t>(i)], 1);
  }
}

}  // namespace

int lanes_of_rows(LocalIndex n_rows, Offset nnz) {
  constexpr Offset threads = Offset{1} << 18;  // about as many as a large card runs at once
  for (const int lanes : {32, 8}) {
    const bool few = Offset{n_rows} * lanes <= threads;
    const bool long_enough = nnz >= Offset{n_rows} * lanes * 2;
    if (n_rows > 0 && few && long_enough) return lanes;
  }
  return 1;
}

template <class T>
SellLayout<T> sell_layout(const kernels::Csr<T>& on, const kernels::Csr<T>& off) {
  SellLayout<T> sell;
  sell.n_rows = on.n_rows;
  sell.n_cols = narrow<LocalIndex>(Offset{on.n_cols} + off.n_cols, "the number of columns");
  sell.nnz = on.nnz() + off.nnz();
  sell.lanes = lanes_of_rows(sell.n_rows, sell.nnz);
  if (sell.lanes > 1) {
    lay_out_rows(on, off, sell);
  } else {
    lay_out_slices(on, off, sell);
  }
  return sell;
}

template SellLayout<float> sell_layout(const kernels::Csr<float>&, const kernels::Csr<float>&);
template SellLayout<double> sell_layout(const kernels::Csr<double>&, const kernels::Csr<double>&);

}  // namespace nodewise::device
