// Whether a diagonal bears what is added to it for blocks that are dropped.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "nodewise/amg/sparsify/diagonal_change.hpp"
#include "nodewise/amg/sparsify/point_blocks.hpp"

namespace nodewise::amg::sparsify {

/// A vector that a matrix is to multiply as before, which lumping to the diagonal sees to: this
/// rank's numbers, then those of the ghosts. Empty: constants.
template <class T>
using KeptVector = std::span<const T>;

/// Takes the blocks of one row after the other, as they are to be dropped, and says how far the
/// diagonal bears that. What it gains by a block is not counted: that may stay after all.
template <class T>
class DiagonalGuard {
 public:
  /// Local. A and blocks must outlive it.
  DiagonalGuard(const matrix::DistMatrix<T>& A, const PointBlocks<T>& blocks,
                KeptVector<T> kept_vector)
      : A_(A),
        blocks_(blocks),
        kept_vector_(kept_vector),
        diagonal_(static_cast<std::size_t>(blocks.unknowns())),
        lost_(diagonal_.size()),
        one_(1, T{1}) {}

  /// Begins with a row. Where its diagonal block is not full, it bears nothing.
  void start(LocalIndex point) {
    point_ = point;
    const auto u = diagonal_.size();
    products_.assign(static_cast<std::size_t>(blocks_.end(point) - blocks_.begin(point)) * u, T{});
    std::fill(diagonal_.begin(), diagonal_.end(), T{});
    std::fill(lost_.begin(), lost_.end(), T{});
    std::size_t n_inside = 0;
    for (std::size_t r = 0; r < u; ++r) n_inside += multiply_row(r);
    bears_ = n_inside == u * u;
  }

  /// Whether a row bears all of these entries, in any order and without rounding having a say;
  /// false where start() and bears() have to tell. For one row a point.
  template <class Entries>
  bool surely_bears(LocalIndex point, const Entries& entries) {
    constexpr T margin = static_cast<T>(0.999);
    point_ = point;
    const T kept = kept_here()[0];
    const auto& on = A_.on();
    const auto begin = static_cast<std::size_t>(on.begin(point));
    const auto n_on = static_cast<std::size_t>(on.length(point));
    const LocalIndex* const cols = on.cols.data() + begin;
    const LocalIndex* const at = std::find(cols, cols + n_on, point);
    if (at == cols + n_on || !(kept * kept > T{})) return false;
    const T diagonal = on.vals[begin + static_cast<std::size_t>(at - cols)];
    const auto off_begin = static_cast<std::size_t>(A_.off().begin(point));
    T lost{};
    for (const auto& entry : entries) {
      const auto k = static_cast<std::size_t>(entry.block - blocks_.begin(point));
      T value = k < n_on ? on.vals[begin + k] : A_.off().vals[off_begin + (k - n_on)];
      if (!kept_vector_.empty()) {
        value *= kept_vector_[static_cast<std::size_t>(blocks_.column(entry.block))] / kept;
      }
      if (value * diagonal < T{}) lost += std::abs(value);
    }
    return lost <= margin * static_cast<T>(most_lost) * std::abs(diagonal);
  }

  /// Whether it bears this block, too, and all before it.
  bool bears(Offset block) {
    if (!bears_) return false;
    const auto u = diagonal_.size();
    const auto at = static_cast<std::size_t>(block - blocks_.begin(point_)) * u;
    const DiagonalChange<T> change(std::span<const T>(products_).subspan(at, u), kept_here());
    bears_ = change.exists();
    for (std::size_t r = 0; r < u && bears_; ++r) {
      const T added = change(r, r);
      if (added * diagonal_[r] < T{}) lost_[r] += std::abs(added);
      bears_ = lost_[r] <= static_cast<T>(most_lost) * std::abs(diagonal_[r]);
    }
    return bears_;
  }

 private:
  std::span<const T> kept_here() const {
    if (kept_vector_.empty()) return one_;
    return kept_vector_.subspan(static_cast<std::size_t>(point_) * diagonal_.size(),
                                diagonal_.size());
  }

  /// Row r of the products of all blocks with the kept vector. Returns the entries that are in the
  /// diagonal block.
  std::size_t multiply_row(std::size_t r) {
    const auto u = diagonal_.size();
    const auto i = point_ * static_cast<LocalIndex>(u) + static_cast<LocalIndex>(r);
    std::size_t n_inside = 0;
    std::size_t n_before = 0;  // entries of the row
    for_each_entry(A_, i, [&](LocalIndex column, T value) {
      const std::size_t entry = n_before++;
      const LocalIndex to = blocks_.point_of(column);
      if (column == i) diagonal_[r] = value;
      if (to == point_) {
        ++n_inside;
        return;
      }
      const std::size_t block =
          blocks_.are_entries()
              ? entry
              : static_cast<std::size_t>(blocks_.find(point_, to) - blocks_.begin(point_));
      products_[block * u + r] +=
          kept_vector_.empty() ? value : value * kept_vector_[static_cast<std::size_t>(column)];
    });
    return n_inside;
  }

  const matrix::DistMatrix<T>& A_;
  const PointBlocks<T>& blocks_;
  KeptVector<T> kept_vector_;
  std::vector<T> diagonal_, lost_, one_, products_;
  LocalIndex point_ = 0;
  bool bears_ = false;
};

}  // namespace nodewise::amg::sparsify
