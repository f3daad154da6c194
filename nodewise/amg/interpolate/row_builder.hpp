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
    rows_ = kernels::Csr<T>(n_rows, n_columns);
    rows_.row_ptr.resize(1);
    rows_.row_ptr.reserve(static_cast<std::size_t>(n_rows) + 1);
    const auto per_row = static_cast<std::size_t>(max_entries > 0 ? max_entries : 8);
    rows_.cols.reserve(static_cast<std::size_t>(n_rows) * per_row + 64);
    rows_.vals.reserve(static_cast<std::size_t>(n_rows) * per_row + 64);
  }

  /// Names a point that the current row interpolates from.
  void add_point(LocalIndex c) {
    if (has(c)) return;
    marker_[static_cast<std::size_t>(c)] = first_mark_ + static_cast<Offset>(cols_.size());
    cols_.push_back(c);
    vals_.push_back(T{});
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
    rows_.cols.insert(rows_.cols.end(), cols_.begin(), cols_.begin() + kept);
    rows_.vals.insert(rows_.vals.end(), vals_.begin(), vals_.begin() + kept);
    rows_.row_ptr.push_back(static_cast<Offset>(rows_.cols.size()));
    clear();
  }
  /// The row of coarse point c.
  void identity_row(LocalIndex c) {
    rows_.cols.push_back(c);
    rows_.vals.push_back(T{1});
    rows_.row_ptr.push_back(static_cast<Offset>(rows_.cols.size()));
  }
  /// Leaves the current row. Marks of earlier rows stay below first_mark_, so that none needs to be
  /// erased.
  void clear() {
    first_mark_ += static_cast<Offset>(cols_.size());
    cols_.clear();
    vals_.clear();
  }

  kernels::Csr<T> take() { return std::move(rows_); }

 private:
  int max_entries_;
  double truncation_;
  kernels::Csr<T> rows_;
  std::vector<LocalIndex> cols_;  // the current row, before truncation
  std::vector<T> vals_;
  std::vector<Offset> marker_;  // see place()
  Offset first_mark_ = 0;
};

}  // namespace nodewise::amg::interpolate
