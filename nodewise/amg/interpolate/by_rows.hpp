// The frame of an interpolation that is a formula for the row of a fine point.
#pragma once

#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/amg/interpolate/neighbourhood.hpp"
#include "nodewise/amg/interpolate/row_builder.hpp"

namespace nodewise::amg::interpolate {

/// Local. The rows of all points, columns numbered by `columns`: those of coarse points are the
/// identity's, and weigh(row, i) adds the points of fine point i and their weights.
template <class T, class Weigh>
matrix::SplitRows<T> rows_of(const Neighbourhood<T>& near, const matrix::GhostNumbering& columns,
                             const Limits& limits, const Weigh& weigh) {
  const LocalIndex n = near.matrix().n_local();
  RowBuilder<T> row(n, columns.size(), limits.max_entries, limits.truncation);
  for (LocalIndex i = 0; i < n; ++i) {
    if (near.is_coarse(i)) {
      row.identity_row(near.coarse_number(i));
    } else {
      weigh(row, i);
      row.end_row();
    }
  }
  matrix::RowBlock<T> block;
  block.rows = row.take();
  block.n_owned_cols = near.coarse_layout().n_local();
  block.ghosts = columns.ghosts();
  return matrix::split_rows(near.coarse_layout(), std::move(block));
}

/// Collective. The interpolation by weigh(near, row, i), which may use the links of other points.
template <class T, class Weigh>
matrix::DistMatrix<T> by_rows(const matrix::DistMatrix<T>& A, const Strength& strength,
                              const coarsen::Splitting& splitting,
                              const comm::Layout& coarse_points, const Limits& limits, Signs signs,
                              const Weigh& weigh) {
  Neighbourhood<T> near(A, strength, splitting, coarse_points, signs);
  near.share_coarse_points();
  const auto received = near.bring_links();
  return {A.rows(), coarse_points, [&] {
            near.gather(received);
            return rows_of(near, near.columns(), limits,
                           [&](RowBuilder<T>& row, LocalIndex i) { weigh(near, row, i); });
          }};
}

}  // namespace nodewise::amg::interpolate
