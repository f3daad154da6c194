// The rows of extended and of extended+i interpolation.
#pragma once

#include <vector>

#include "nodewise/amg/interpolate/by_rows.hpp"

namespace nodewise::amg::interpolate {

/// Local. One row after another. A fine point i interpolates from the coarse points that it depends
/// on, and from those that its strong fine neighbours k depend on. Its coupling to k is shared out
/// among those of them that k is coupled to, and i itself by back(k, i, a_ik), the coupling of k to
/// i. All that k depends on are points of the row: where k has no other coarse couplings, as on
/// most fine levels, the row is named and weighed in one go.
template <class T, class Back>
class FarRow {
 public:
  FarRow(const Neighbourhood<T>& near, Back back)
      : near_(near), links_(near.links()), back_(std::move(back)) {}

  void operator()(RowBuilder<T>& row, LocalIndex i) {
    i_ = i;
    diagonal_ = near_.diagonal(i);
    later_.clear();
    near_.for_each_entry(i, [&](LocalIndex k, LocalIndex c, T a, bool strong) {
      if (strong && c == coarsen::fine_point) {
        share_or_name(row, k, a);
      } else if (strong && c >= 0) {
        row.add(c, a);
      } else if (c >= 0) {
        later_.push_back({k, c, a});
      } else if (k != i && c != coarsen::isolated_point) {
        diagonal_ += a;
      }
    });
    for (const Entry& entry : later_) weigh_later(row, entry);
    row.scale(diagonal_ == T{} ? T{} : T{-1} / diagonal_);
  }

 private:
  struct Entry {
    LocalIndex point;
    LocalIndex coarse_number;
    T value;
  };
  using Point = typename CoarseLinks<T>::Point;

  void share_or_name(RowBuilder<T>& row, LocalIndex k, T a) {
    const Point& point = links_.of(k);
    if (point.n_weak > 0) {
      row.add_points(links_.strong_cols(point));
      later_.push_back({k, coarsen::fine_point, a});
    } else {
      const T factor = share(k, a, point.strong_sum);
      row.add(factor, links_.strong_cols(point), links_.vals(point));
    }
  }

  /// What each coupling of k is to be multiplied by, where those to points of the row add up to
  /// `sum`; what goes to the diagonal goes there: all where k is coupled to no point.
  T share(LocalIndex k, T a, T sum) {
    const T back = back_(k, i_, a);
    const T all = sum + back;
    const T factor = all == T{} ? T{} : a / all;
    diagonal_ += all == T{} ? a : factor * back;
    return factor;
  }

  /// When all points of the row are named: a weak coarse neighbour, or one of the strong fine ones.
  void weigh_later(RowBuilder<T>& row, const Entry& entry) {
    if (entry.coarse_number >= 0) {
      const bool named = row.has(entry.coarse_number);
      (named ? row.weight(entry.coarse_number) : diagonal_) += entry.value;
      return;
    }
    const Point& point = links_.of(entry.point);
    const auto cols = links_.cols(point);
    const T* const vals = links_.vals(point);
    T sum = point.strong_sum;
    for (auto p = static_cast<std::size_t>(point.n_strong); p < cols.size(); ++p) {
      sum += row.has(cols[p]) ? vals[p] : T{};
    }
    const T factor = share(entry.point, entry.value, sum);
    for (std::size_t p = 0; p < cols.size(); ++p) {
      row.weight(cols[p]) += row.has(cols[p]) ? factor * vals[p] : T{};
    }
  }

  const Neighbourhood<T>& near_;
  const CoarseLinks<T>& links_;
  Back back_;
  LocalIndex i_ = 0;
  T diagonal_{};
  std::vector<Entry> later_;
};

}  // namespace nodewise::amg::interpolate
