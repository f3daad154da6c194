// What formulas have in common that eliminate a strong coupling to a fine point by sharing it out
// among that point's couplings to the coarse points of the row.
#pragma once

#include "nodewise/amg/interpolate/by_rows.hpp"

namespace nodewise::amg::interpolate {

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
    const std::size_t last = links.last(k);
    for (std::size_t p = links.first(k); p < last; ++p) {
      if (links.strong[p]) row.add_point(links.cols[p]);
    }
  });
}

/// Shares the coupling a_ik to the fine point k out among the points of the row that k is coupled
/// to, and i itself where `back`, the coupling of k to i, is not zero. Returns what goes to the
/// diagonal: all of it where k is coupled to none of them.
template <class T>
T share_out(const CoarseLinks<T>& links, RowBuilder<T>& row, LocalIndex k, T a_ik, T back) {
  const std::size_t first = links.first(k);
  const std::size_t last = links.last(k);
  T sum = back;
  for (std::size_t p = first; p < last; ++p) {
    if (row.has(links.cols[p])) sum += links.vals[p];
  }
  if (sum == T{}) return a_ik;
  const T factor = a_ik / sum;
  for (std::size_t p = first; p < last; ++p) {
    const Offset at = row.place(links.cols[p]);
    if (at >= 0) row.at(at) += factor * links.vals[p];
  }
  return factor * back;
}

/// The weights of a row whose points are named. share(k, a_ik) deals with a strong coupling to a
/// fine point and returns what of it goes to the diagonal; couplings that are neither to a point of
/// the row nor strong and to a fine point are lumped into the diagonal, or dropped.
template <class T, class Share>
void weigh_row(const Neighbourhood<T>& near, RowBuilder<T>& row, LocalIndex i,
               ToIsolated to_isolated, const Share& share) {
  T diagonal = near.diagonal(i);
  near.for_each_entry(i, [&](LocalIndex k, LocalIndex c, T a, bool strong) {
    if (k == i) return;
    if (c == coarsen::isolated_point && to_isolated == ToIsolated::dropped) return;
    const Offset at = c >= 0 ? row.place(c) : Offset{-1};
    if (at >= 0) {
      row.at(at) += a;
    } else {
      diagonal += c < 0 && strong ? share(k, a) : a;
    }
  });
  row.scale(diagonal == T{} ? T{} : T{-1} / diagonal);
}

}  // namespace nodewise::amg::interpolate
