// Sorting the entries of one matrix row by column.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::kernels {

/// Sorts rows from one place into another, which must not overlap it; equal columns keep their
/// order. Holds the work space.
template <class T>
class RowSorter {
 public:
  /// The first `readable` columns are read whatever n is; those from n on do not matter.
  void sort(const LocalIndex* cols, const T* vals, std::size_t n, LocalIndex* out_cols,
            T* out_vals) {
    const bool done = n <= 16         ? sort_by_rank<16>(cols, vals, n, out_cols, out_vals)
                      : n <= 32       ? sort_by_rank<32>(cols, vals, n, out_cols, out_vals)
                      : n <= readable ? sort_by_rank<readable>(cols, vals, n, out_cols, out_vals)
                                      : false;
    if (!done) sort_keys(cols, vals, n, out_cols, out_vals);
  }

  static constexpr std::size_t readable = 64;

 private:
  /// Counts for every column those that are smaller, which is its place: quadratic, but without a
  /// branch, and the inner loop is a few vector instructions. False, with nothing of use written,
  /// if a column is repeated.
  template <std::size_t width>
  static bool sort_by_rank(const LocalIndex* cols, const T* vals, std::size_t n,
                           LocalIndex* out_cols, T* out_vals) {
    std::array<LocalIndex, width> rank{};
    for (std::size_t p = 0; p < n; ++p) {
      const LocalIndex col = cols[p];
      for (std::size_t k = 0; k < width; ++k) rank[k] += col < cols[k] ? 1 : 0;
    }
    std::size_t sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const auto place = static_cast<std::size_t>(rank[k]);
      sum += place;
      out_cols[place] = cols[k];
      out_vals[place] = vals[k];
    }
    return 2 * sum == n * (n - 1);  // distinct columns have the ranks 0 .. n - 1
  }

  void sort_keys(const LocalIndex* cols, const T* vals, std::size_t n, LocalIndex* out_cols,
                 T* out_vals) {
    keys_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      keys_[k] = static_cast<std::uint64_t>(cols[k]) << 32 | k;
    }
    std::sort(keys_.begin(), keys_.end());
    for (std::size_t k = 0; k < n; ++k) {
      out_cols[k] = static_cast<LocalIndex>(keys_[k] >> 32);
      out_vals[k] = vals[static_cast<std::uint32_t>(keys_[k])];
    }
  }

  std::vector<std::uint64_t> keys_;  // column and place in the unsorted row
};

}  // namespace nodewise::kernels
