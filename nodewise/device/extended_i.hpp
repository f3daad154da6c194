// Extended+i interpolation, made on a device.
#pragma once

#include "nodewise/device/splitting.hpp"

namespace nodewise::device {

/// The rules for its rows, as amg::interpolate::Rules has them.
struct InterpolationRules {
  int max_entries = 0;
  double truncation = 0;
  bool lumps_isolated = false;
};

/// Local. What amg::interpolate::extended_i() makes of a symmetric matrix, up to the order of
/// additions (De Sterck, Falgout, Nolting, Yang 2008, eq. 4.10). Its rows are those of a product:
/// factors of each coupling times the couplings of strong neighbours to coarse points, at the
/// places of strong ones.
template <class Space>
CsrMatrix<double, Space> extended_i(Primitives<Space>& primitives,
                                    const CsrMatrix<double, Space>& A,
                                    const Buffer<std::uint8_t, Space>& strong,
                                    const Splitting<Space>& splitting,
                                    const InterpolationRules& rules);

/// Local. Shortens the rows of an interpolation, once each is multiplied by its `scales`: what
/// amg::interpolate::truncate_row() does, but for coarse points, whose rows are those of the
/// identity.
template <class Space>
CsrMatrix<double, Space> truncated(Primitives<Space>& primitives, CsrMatrix<double, Space> P,
                                   const LocalIndex* numbers, const double* scales,
                                   const InterpolationRules& rules);

}  // namespace nodewise::device
