// Shared parts of formulas that eliminate a strong coupling to a fine point by sharing it out among
// that point's couplings to the coarse points of the row.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "nodewise/amg/interpolate/by_rows.hpp"

namespace nodewise::amg::interpolate {

/// Whether terms of either sign, whose moduli add up to `size`, cancel out up to rounding: nothing
/// can be scaled to their sum.
template <class T>
bool cancel_out(T sum, T size) {
  return std::abs(sum) <= 8 * std::numeric_limits<T>::epsilon() * size;
}

/// Adds the coarse points that i depends on.
template <class T>
void add_near_points(const Neighbourhood<T>& near, RowBuilder<T>& row, LocalIndex i) {
  near.for_each_strong(i, [&](LocalIndex, LocalIndex c) {
    if (c >= 0) row.add_point(c);
  });
}

/// Adds these and those that the fine points depend on which i depends on.
template <class T>
void add_near_and_far_points(const Neighbourhood<T>& near, RowBuilder<T>& row, LocalIndex i) {
  const CoarseLinks<T>& links = near.links();
  near.for_each_strong(i, [&](LocalIndex k, LocalIndex c) {
    if (c >= 0) return row.add_point(c);
    row.add_points(links.strong_cols(links.of(k)));
  });
}

/// Shares the coupling a_ik to the fine point k out among the points of the row that k is coupled
/// to. Returns what goes to the diagonal: all of it where k is coupled to none of them, or these
/// couplings cancel out.
template <class T>
T share_out(const CoarseLinks<T>& links, RowBuilder<T>& row, LocalIndex k, T a_ik) {
  const auto& point = links.of(k);
  const auto cols = links.cols(point);
  const T* const vals = links.vals(point);
  T sum{}, size{};
  for (std::size_t p = 0; p < cols.size(); ++p) {
    if (!row.has(cols[p])) continue;
    sum += vals[p];
    size += std::abs(vals[p]);
  }
  if (cancel_out(sum, size)) return a_ik;
  const T factor = a_ik / sum;
  for (std::size_t p = 0; p < cols.size(); ++p) {
    if (row.has(cols[p])) row.weight(cols[p]) += factor * vals[p];
  }
  return T{};
}

/// The weights of a row whose points are named. share(k, a_ik) deals with a strong coupling to a
/// fine point and returns what of it goes to the diagonal; couplings that are neither to a point of
/// the row nor strong and to a fine point are lumped into the diagonal, but for those to isolated
/// points.
template <class T, class Share>
void weigh_row(const Neighbourhood<T>& near, RowBuilder<T>& row, LocalIndex i, const Share& share) {
  T diagonal = near.diagonal(i);
  near.for_each_entry(i, [&](LocalIndex k, LocalIndex c, T a, bool strong) {
    if (k == i || c == coarsen::isolated_point) return;
    if (c >= 0 && row.has(c)) {
      row.weight(c) += a;
    } else {
      diagonal += c < 0 && strong ? share(k, a) : a;
    }
  });
  row.scale(diagonal == T{} ? T{} : T{-1} / diagonal);
}

}  // namespace nodewise::amg::interpolate
