// Extended+i interpolation, made on a device.
#pragma once

#include "nodewise/device/splitting.hpp"

namespace nodewise::device {

/// The rules for its rows, as amg::interpolate::Rules has them.
struct InterpolationRules {
  int max_entries = 0;
  double truncation = 0;
  bool lumps_isolated = false;
  /// Where this rank's coarse points are among all columns: so many, behind so many others.
  LocalIndex n_owned = 0, n_lower = 0;
};

/// What is known of the points of a level, ghosts behind the owned ones: coarse numbers on this
/// rank (local_numbers()) and diagonal entries. Arrays of the space.
struct KnownPoints {
  const LocalIndex* numbers;
  const double* diagonals;
};

/// The couplings of points to coarse ones; those of a coarse point are itself.
template <class Space>
struct CoarseLinks {
  CsrMatrix<double, Space> rows;
  Buffer<std::uint8_t, Space> strong;  ///< 1 for what a point depends on strongly
};

/// Local. Those of A's rows. The columns are so many coarse points.
template <class Space>
CoarseLinks<Space> coarse_links(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                                const Buffer<std::uint8_t, Space>& strong,
                                const LocalIndex* numbers, LocalIndex n_coarse,
                                const InterpolationRules& rules);

/// Local. What amg::interpolate::extended_i() makes of a symmetric matrix, up to the order of
/// additions (De Sterck, Falgout, Nolting, Yang 2008, eq. 4.10). Its rows are those of a product:
/// factors of each coupling times the couplings of strong neighbours to coarse points, at the
/// places of strong ones. `links` has rows for all columns of A.
template <class Space>
CsrMatrix<double, Space> extended_i(Primitives<Space>& primitives,
                                    const CsrMatrix<double, Space>& A,
                                    const Buffer<std::uint8_t, Space>& strong,
                                    const KnownPoints& points, const CoarseLinks<Space>& links,
                                    const InterpolationRules& rules);

/// Local. Shortens the rows of an interpolation, once each is multiplied by its `scales`: what
/// amg::interpolate::truncate_row() does, but for coarse points, whose rows are those of the
/// identity.
template <class Space>
CsrMatrix<double, Space> truncated(Primitives<Space>& primitives, CsrMatrix<double, Space> P,
                                   const LocalIndex* numbers, const double* scales,
                                   const InterpolationRules& rules);

/// Local. The diagonal entries of a matrix.
template <class Space>
void read_diagonal(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double* diagonal);

}  // namespace nodewise::device
