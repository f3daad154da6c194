// The prolongator of an aggregation, made on a device.
#pragma once

#include "nodewise/device/csr_matrix.hpp"

namespace nodewise::device {

/// Local. The aggregates of n points that other ranks own, as often as they occur; those of this
/// rank are the n_owned that follow `first`.
template <class Space>
Buffer<GlobalIndex, Space> aggregates_of_others(Primitives<Space>& primitives, LocalIndex n,
                                                const GlobalIndex* of_point, GlobalIndex first,
                                                LocalIndex n_owned);

/// Local. One entry in the row of each point whose column is not negative: the vector's number
/// there.
template <class Space>
CsrMatrix<double, Space> members_matrix(Primitives<Space>& primitives,
                                        const Buffer<LocalIndex, Space>& columns,
                                        LocalIndex n_columns, const double* vector);

/// Local. lengths[a] = the length of row a of the transposed matrix.
template <class Space>
void lengths_of_rows(Queue<Space>& queue, const CsrMatrix<double, Space>& members, double* lengths);

/// Local. Divides every entry by the length of its column; zero where that is zero. Then it is what
/// amg::aggregate::tentative_prolongator() makes of one vector.
template <class Space>
void divide_by_lengths(Queue<Space>& queue, const double* lengths, CsrMatrix<double, Space>& P);

/// Local. I - damping D^-1 A with the diagonal D of A; the unit row where that is zero.
template <class Space>
CsrMatrix<double, Space> jacobi_matrix(Primitives<Space>& primitives,
                                       const CsrMatrix<double, Space>& A, double damping);

}  // namespace nodewise::device
