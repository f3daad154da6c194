// The prolongator of an aggregation, made on a device.
#pragma once

#include "nodewise/device/aggregates.hpp"

namespace nodewise::device {

/// A prolongator with one entry in the row of each point of an aggregate, and the near null space
/// that belongs to its columns.
template <class Space>
struct Tentative {
  CsrMatrix<double, Space> P;
  Buffer<double, Space> coarse_vector;
};

/// Local. What amg::aggregate::tentative_prolongator() makes of one vector: the column of an
/// aggregate is the vector's part there at unit length, which is the coarse vector's entry. Zero
/// where that part is zero.
template <class Space>
Tentative<Space> tentative_prolongator(Primitives<Space>& primitives,
                                       const Aggregates<Space>& aggregates, const double* vector);

/// Local. I - damping D^-1 A with the diagonal D of A; the unit row where that is zero.
template <class Space>
CsrMatrix<double, Space> jacobi_matrix(Primitives<Space>& primitives,
                                       const CsrMatrix<double, Space>& A, double damping);

}  // namespace nodewise::device
