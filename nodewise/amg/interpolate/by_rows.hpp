// The frame of an interpolation that is a formula for the row of a fine point.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/amg/interpolate/neighbourhood.hpp"
#include "nodewise/amg/interpolate/row_builder.hpp"
#include "nodewise/kernels/row_parts.hpp"

namespace nodewise::amg::interpolate {

/// Local. The place of each column among them by global index, by which truncation chooses on every
/// number of ranks alike; empty where that is its number, since there are no ghosts.
inline std::vector<LocalIndex> global_order(const matrix::GhostNumbering& columns) {
  if (columns.ghosts().empty()) return {};
  const auto n_ghosts = static_cast<LocalIndex>(columns.ghosts().size());
  const LocalIndex n_owned = columns.size() - n_ghosts;
  std::vector<LocalIndex> ghosts(columns.ghosts().size());
  std::iota(ghosts.begin(), ghosts.end(), n_owned);
  const auto is_before = [&](LocalIndex a, LocalIndex b) {
    return columns.global(a) < columns.global(b);
  };
  std::sort(ghosts.begin(), ghosts.end(), is_before);
  // The owned columns follow each other.
  const auto above = n_owned == 0
                         ? ghosts.end()
                         : std::lower_bound(ghosts.begin(), ghosts.end(), LocalIndex{0}, is_before);
  std::vector<LocalIndex> order(static_cast<std::size_t>(columns.size()));
  const auto n_below = static_cast<LocalIndex>(above - ghosts.begin());
  std::iota(order.begin(), order.begin() + n_owned, n_below);
  LocalIndex place = 0;
  for (auto ghost = ghosts.begin(); ghost != ghosts.end(); ++ghost) {
    if (ghost == above) place += n_owned;
    order[static_cast<std::size_t>(*ghost)] = place++;
  }
  return order;
}

/// Local. The rows of the points from `begin` to `end`, as rows_of() has them.
template <class T, class Weigh>
kernels::Csr<T> rows_between(LocalIndex begin, LocalIndex end, const Neighbourhood<T>& near,
                             LocalIndex n_columns, std::span<const LocalIndex> order,
                             const Rules& rules, Weigh weigh) {
  RowBuilder<T> row(end - begin, n_columns, rules.max_entries, rules.truncation, order);
  for (LocalIndex i = begin; i < end; ++i) {
    if (near.is_coarse(i)) {
      row.identity_row(near.coarse_number(i));
    } else {
      weigh(row, i);
      row.end_row();
    }
  }
  return row.take();
}

/// Local. The rows of all points, columns numbered by `columns`: those of coarse points are the
/// identity's, and weigh(row, i), one of which is made by make_weigh() for each thread, adds the
/// points of fine point i and their weights. A thread's i ascend.
template <class T, class MakeWeigh>
matrix::SplitRows<T> rows_of(const Neighbourhood<T>& near, const matrix::GhostNumbering& columns,
                             const Rules& rules, const MakeWeigh& make_weigh) {
  const std::vector<LocalIndex> order = global_order(columns);
  matrix::RowBlock<T> block;
  block.rows =
      kernels::rows_in_parts<T>(near.matrix().on().row_ptr, [&](LocalIndex begin, LocalIndex end) {
        return rows_between(begin, end, near, columns.size(), order, rules, make_weigh());
      });
  block.n_owned_cols = near.coarse_layout().n_local();
  block.ghosts = columns.ghosts();
  return matrix::split_rows(near.coarse_layout(), std::move(block));
}

/// Collective. The interpolation by formula(near), which makes a weigh(row, i) as rows_of() takes
/// it; that may use the links of other points.
template <class T, class Formula>
matrix::DistMatrix<T> by_rows(const matrix::DistMatrix<T>& A, const Strength& strength,
                              const coarsen::Splitting& splitting,
                              const comm::Layout& coarse_points, const Rules& rules, Signs signs,
                              const Formula& formula) {
  Neighbourhood<T> near(A, strength, splitting, coarse_points, signs, rules.to_isolated);
  near.share_coarse_points();
  std::optional<Error> failure;
  const auto received = near.bring_links(failure);
  return {A.rows(), coarse_points, [&] {
            if (failure) throw Error(*failure);
            near.gather(received);
            return rows_of(near, near.columns(), rules, [&] { return formula(near); });
          }};
}

}  // namespace nodewise::amg::interpolate
