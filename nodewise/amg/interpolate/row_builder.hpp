// The rows of an interpolation under construction.
#pragma once

#include <utility>
#include <vector>

#include "nodewise/amg/interpolate/truncate.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::interpolate {

/// Local. Rows are made one after another: first the points of a row are named, then weights added
/// to them. Columns are coarse numbers.
template <class T>
class RowBuilder {
 public:
  RowBuilder(LocalIndex n_rows, LocalIndex n_columns, int max_entries, double truncation)
      : max_entries_(max_entries),
        truncation_(truncation),
        marker_(static_cast<std::size_t>(n_columns), -1) {
    done_ptr_.reserve(static_cast<std::size_t>(n_rows) + 1);
    const auto per_row = static_cast<std::size_t>(max_entries > 0 ? max_entries : 8);
    done_cols_.reserve(static_cast<std::size_t>(n_rows) * per_row + 64);
    done_vals_.reserve(static_cast<std::size_t>(n_rows) * per_row + 64);
  }

  /// Names a point that the current row interpolates from.
  void add_point(LocalIndex c) {
    if (has(c)) return;
    marker_[static_cast<std::size_t>(c)] = first_mark_ + static_cast<Offset>(cols_.size());
    cols_.push_back(c);
    vals_.push_back(T{});
  }
  /// Adds to the weight of a point, which need not have been named.
  void add(LocalIndex c, T weight) {
    Offset& mark = marker_[static_cast<std::size_t>(c)];
    if (mark >= first_mark_) {
      vals_[static_cast<std::size_t>(mark - first_mark_)] += weight;
      return;
    }
    mark = first_mark_ + static_cast<Offset>(cols_.size());
    cols_.push_back(c);
    vals_.push_back(weight);
  }
  bool has(LocalIndex c) const { return place(c) >= 0; }
  /// Where coarse number c stands in the current row; negative where it does not.
  Offset place(LocalIndex c) const { return marker_[static_cast<std::size_t>(c)] - first_mark_; }
  T& at(Offset place) { return vals_[static_cast<std::size_t>(place)]; }

  std::vector<LocalIndex>& cols() { return cols_; }
  std::vector<T>& weights() { return vals_; }
  void scale(T factor) {
    for (T& weight : vals_) weight *= factor;
  }

  /// Truncates the current row, and begins the next.
  void end_row() {
    const Offset kept = truncate_row(cols_.data(), vals_.data(), static_cast<Offset>(cols_.size()),
                                     max_entries_, truncation_);
    done_cols_.insert(done_cols_.end(), cols_.begin(), cols_.begin() + kept);
    done_vals_.insert(done_vals_.end(), vals_.begin(), vals_.begin() + kept);
    done_ptr_.push_back(static_cast<Offset>(done_cols_.size()));
    clear();
  }
  /// The row of coarse point c.
  void identity_row(LocalIndex c) {
    done_cols_.push_back(c);
    done_vals_.push_back(T{1});
    done_ptr_.push_back(static_cast<Offset>(done_cols_.size()));
  }
  /// Leaves the current row. Marks of earlier rows stay below first_mark_, so that none needs to be
  /// erased.
  void clear() {
    first_mark_ += static_cast<Offset>(cols_.size());
    cols_.clear();
    vals_.clear();
  }

  kernels::Csr<T> take() {
    kernels::Csr<T> rows;
    rows.n_rows = static_cast<LocalIndex>(done_ptr_.size() - 1);
    rows.n_cols = static_cast<LocalIndex>(marker_.size());
    rows.row_ptr = std::move(done_ptr_);
    rows.cols = std::move(done_cols_);
    rows.vals = std::move(done_vals_);
    return rows;
  }

 private:
  int max_entries_;
  double truncation_;
  Array<Offset> done_ptr_ = {0};
  Array<LocalIndex> done_cols_;
  Array<T> done_vals_;
  std::vector<LocalIndex> cols_;  // the current row, before truncation
  std::vector<T> vals_;
  std::vector<Offset> marker_;  // see place()
  Offset first_mark_ = 0;
};

}  // namespace nodewise::amg::interpolate
