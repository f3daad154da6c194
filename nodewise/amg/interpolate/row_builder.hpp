// The rows of an interpolation under construction.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/amg/interpolate/truncate.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::interpolate {

/// Local. Rows are made one after another, by naming points and adding to their weights. Columns
/// are coarse numbers, of which truncation takes those that are equal in `order` (truncate.hpp).
/// Which points are new to a row cannot be foreseen, so none of it branches.
template <class T>
class RowBuilder {
 public:
  RowBuilder(LocalIndex n_rows, LocalIndex n_columns, int max_entries, double truncation,
             std::span<const LocalIndex> order = {})
      : max_entries_(max_entries),
        truncation_(truncation),
        order_(order),
        cols_(static_cast<std::size_t>(n_columns) + 1),  // one more may be written than is named
        row_of_(static_cast<std::size_t>(n_columns), -1),
        weights_(static_cast<std::size_t>(n_columns)) {
    done_ptr_.reserve(static_cast<std::size_t>(n_rows) + 1);
    const auto per_row = static_cast<std::size_t>(max_entries > 0 ? max_entries : 8);
    done_cols_.reserve(static_cast<std::size_t>(n_rows) * per_row + 64);
    done_vals_.reserve(static_cast<std::size_t>(n_rows) * per_row + 64);
  }

  /// Names points that the current row interpolates from; those that are named already remain.
  void add_points(std::span<const LocalIndex> points) {
    LocalIndex* const cols = cols_.data();
    LocalIndex* const row_of = row_of_.data();
    const LocalIndex row = row_;
    std::size_t n = length_;
    for (const LocalIndex c : points) {
      cols[n] = c;
      n += row_of[c] != row ? 1 : 0;
      row_of[c] = row;
    }
    length_ = n;
  }
  void add_point(LocalIndex c) { add_points({&c, 1}); }
  /// Adds `factor` times values to the weights of points, which need not have been named.
  void add(T factor, std::span<const LocalIndex> points, const T* values) {
    add_points(points);
    T* const weights = weights_.data();
    for (const LocalIndex c : points) weights[c] += factor * *values++;
  }
  void add(LocalIndex c, T weight) { add(weight, {&c, 1}, &one); }
  bool has(LocalIndex c) const { return row_of_[static_cast<std::size_t>(c)] == row_; }
  /// The weight of a named point.
  T& weight(LocalIndex c) { return weights_[static_cast<std::size_t>(c)]; }

  std::span<const LocalIndex> points() const { return {cols_.data(), length_}; }
  /// Multiplies the weights of the current row by `factor` when it ends.
  void scale(T factor) { scale_ = factor; }

  /// Truncates the current row, and begins the next.
  void end_row() {
    const std::size_t begin = done_cols_.size();
    move_row_to(done_cols_, done_vals_);
    const Offset kept = truncate_row(done_cols_.data() + begin, done_vals_.data() + begin,
                                     static_cast<Offset>(done_cols_.size() - begin), max_entries_,
                                     truncation_, order_);
    done_cols_.resize(begin + static_cast<std::size_t>(kept));
    done_vals_.resize(begin + static_cast<std::size_t>(kept));
    done_ptr_.push_back(static_cast<Offset>(done_cols_.size()));
  }
  /// The row of coarse point c.
  void identity_row(LocalIndex c) {
    done_cols_.push_back(c);
    done_vals_.push_back(T{1});
    done_ptr_.push_back(static_cast<Offset>(done_cols_.size()));
  }
  /// Appends the current row, not truncated, to cols and vals instead, and begins another.
  void move_row_to(Array<LocalIndex>& cols, Array<T>& vals) {
    const std::size_t begin = cols.size();
    cols.resize(begin + length_);
    vals.resize(begin + length_);
    for (std::size_t k = 0; k < length_; ++k) {
      cols[begin + k] = cols_[k];
      vals[begin + k] = scale_ * std::exchange(weight(cols_[k]), T{});
    }
    scale_ = 1;
    length_ = 0;
    ++row_;
  }

  kernels::Csr<T> take() {
    kernels::Csr<T> rows;
    rows.n_rows = static_cast<LocalIndex>(done_ptr_.size() - 1);
    rows.n_cols = static_cast<LocalIndex>(row_of_.size());
    rows.row_ptr = std::move(done_ptr_);
    rows.cols = std::move(done_cols_);
    rows.vals = std::move(done_vals_);
    return rows;
  }

 private:
  static constexpr T one = 1;

  int max_entries_;
  double truncation_;
  std::span<const LocalIndex> order_;
  Array<Offset> done_ptr_ = {0};
  Array<LocalIndex> done_cols_;
  Array<T> done_vals_;
  LocalIndex row_ = 0;
  std::size_t length_ = 0;  // of the current row
  T scale_ = 1;
  Array<LocalIndex> cols_;          // its columns, then room
  std::vector<LocalIndex> row_of_;  // the last row that a point was named in
  std::vector<T> weights_;          // of every point in the current row, 0 where it is not named
};

}  // namespace nodewise::amg::interpolate
