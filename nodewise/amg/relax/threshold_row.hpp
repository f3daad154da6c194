// One row of incomplete factors by size, while it is made.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/amg/relax/block_steps.hpp"
#include "nodewise/kernels/bsr.hpp"

namespace nodewise::amg::relax {

/// Row after row of ILUT with blocks of B rows: Saad 2003, algorithm 10.8. Of L an entry is dropped
/// where what it takes from the row, itself times the row of U that it stands for, is small beside
/// the row of A: so the equations' units do not matter.
template <int B>
class ThresholdRow {
 public:
  /// Local. Room for rows of a matrix of n; `drop` and `fill` as in FillRule.
  ThresholdRow(LocalIndex n, double drop, double fill)
      : drop_(drop),
        fill_(fill),
        values_(static_cast<std::size_t>(n) * B * B),
        is_there_(static_cast<std::size_t>(n), 0) {}

  /// Takes row i of A, the next one.
  void begin(const kernels::Bsr<double>& A, LocalIndex i) {
    i_ = i;
    lower_.clear();
    upper_.clear();
    add(i);
    double squares = 0;
    for (Offset p = A.begin(i); p < A.end(i); ++p) {
      const double* const block = A.vals.data() + p * (B * B);
      squares += square_of<B>(block);
      std::copy_n(block, B * B, add(A.cols[static_cast<std::size_t>(p)]));
    }
    least_ = drop_ * std::sqrt(squares);
    most_ =
        static_cast<std::size_t>(std::ceil(fill_ / 2 * static_cast<double>(A.end(i) - A.begin(i))));
  }

  /// Reduces it by the rows above: for_upper(k, f) calls f(column, block) for each entry of row k
  /// of U right of the diagonal, `inverses` has the inverses of the pivots.
  template <class ForUpper>
  void eliminate(std::span<const double> inverses, const ForUpper& for_upper) {
    while (!to_come_.empty()) {
      const LocalIndex k = to_come_.top();
      to_come_.pop();
      double* const factor = value(k);
      multiply_from_right<B>(factor, inverses.data() + Offset{k} * (B * B));
      const double size = size_of<B>(factor) * row_sizes_[static_cast<std::size_t>(k)];
      if (size <= least_) {
        is_there_[static_cast<std::size_t>(k)] = 0;
        continue;
      }
      lower_.push_back({comparable(size), k});
      for_upper(k, [&](LocalIndex j, const double* block) {
        subtract_product<B>(factor, block, add(j));
      });
    }
  }

  /// Appends what is kept, columns ascending, the diagonal always, and forgets the rest. Returns
  /// the place behind the diagonal.
  Offset append_to(Array<LocalIndex>& cols, Array<double>& vals) {
    std::erase_if(upper_, [&](Entry& entry) {
      entry.first = comparable(size_of<B>(value(entry.second)));
      if (entry.first > least_) return false;
      is_there_[static_cast<std::size_t>(entry.second)] = 0;
      return true;
    });
    double squares = square_of<B>(value(i_));
    append(lower_, cols, vals, [](const double*) {});
    append_one(i_, cols, vals);
    const auto behind = static_cast<Offset>(cols.size());
    append(upper_, cols, vals, [&](const double* block) { squares += square_of<B>(block); });
    row_sizes_.push_back(std::sqrt(squares));
    return behind;
  }

 private:
  using Entry = std::pair<double, LocalIndex>;  // a size and a column

  double* value(LocalIndex j) { return values_.data() + Offset{j} * (B * B); }

  /// The place of column j, zeros where it was not there.
  double* add(LocalIndex j) {
    char& is_there = is_there_[static_cast<std::size_t>(j)];
    double* const place = value(j);
    if (is_there != 0) return place;
    is_there = 1;
    std::fill_n(place, B * B, 0.0);
    if (j < i_) to_come_.push(j);
    if (j > i_) upper_.push_back({0.0, j});
    return place;
  }

  /// NaN has no order.
  static double comparable(double size) {
    return std::isfinite(size) ? size : std::numeric_limits<double>::max();
  }

  void append_one(LocalIndex j, Array<LocalIndex>& cols, Array<double>& vals) {
    cols.push_back(j);
    vals.insert(vals.end(), value(j), value(j) + B * B);
    is_there_[static_cast<std::size_t>(j)] = 0;
  }

  /// The largest of one side of the diagonal.
  template <class See>
  void append(std::vector<Entry>& side, Array<LocalIndex>& cols, Array<double>& vals,
              const See& see) {
    if (side.size() > most_) {
      const auto end = side.begin() + static_cast<std::ptrdiff_t>(most_);
      std::nth_element(side.begin(), end, side.end(), std::greater<>());
      for (auto dropped = end; dropped != side.end(); ++dropped) {
        is_there_[static_cast<std::size_t>(dropped->second)] = 0;
      }
      side.erase(end, side.end());
    }
    std::sort(side.begin(), side.end(),
              [](const Entry& a, const Entry& b) { return a.second < b.second; });
    for (const Entry& entry : side) {
      see(value(entry.second));
      append_one(entry.second, cols, vals);
    }
  }

  double drop_, fill_;
  Array<double> values_;           // of the row, by column
  std::vector<char> is_there_;     // by column
  std::vector<double> row_sizes_;  // of the rows of U
  LocalIndex i_ = 0;
  double least_ = 0;
  std::size_t most_ = 0;  // entries on each side of the diagonal
  std::vector<Entry> lower_, upper_;
  std::priority_queue<LocalIndex, std::vector<LocalIndex>, std::greater<LocalIndex>> to_come_;
};

}  // namespace nodewise::amg::relax
