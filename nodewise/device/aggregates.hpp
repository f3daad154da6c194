// Aggregates around an independent set, made on a device.
#pragma once

#include "nodewise/device/csr_matrix.hpp"

namespace nodewise::device {

/// A row is a point.
template <class Space>
struct Aggregates {
  LocalIndex count = 0;
  Buffer<LocalIndex, Space> of_point;  ///< numbers in the order of the roots; -1: in none
};

/// Local. Marks the strong entries of A: 1 where |a_ij| > threshold sqrt(|a_ii a_jj|) and i != j;
/// with threshold 0 all but zeros. What amg::aggregate::symmetric_strength() marks.
template <class Space>
Buffer<std::uint8_t, Space> strong_entries(Primitives<Space>& primitives,
                                           const CsrMatrix<double, Space>& A, double threshold);

/// Local. What amg::aggregate::independent_set_aggregates() makes of these: points more than
/// `distance` strong connections apart, by weights hashed from `seed` (Bell, Dalton, Olson 2012,
/// algorithms 5 and 6), and `distance` rounds in which points join the aggregate they are most
/// connected to. Waits once in each round of the set, of which there are few.
template <class Space>
Aggregates<Space> aggregate_points(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                                   const Buffer<std::uint8_t, Space>& strong, int distance,
                                   int seed);

}  // namespace nodewise::device
