// The bytes that the kernels of a level move, counted on this rank from what is stored. They
// compute in V, whatever the type of the matrix that is looked at.
#pragma once

#include "nodewise/amg/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/model/code_balance.hpp"

namespace nodewise::roofline {

/// Local. Returns the traffic of a product with both parts of the matrix.
template <class V, class T>
model::KernelTraffic traffic_of_product(const matrix::DistMatrix<T>& A, int width = 1);
/// Local. Returns the traffic of a product with the columns of this rank alone.
template <class V>
model::KernelTraffic traffic_of_own_product(const matrix::DistMatrix<double>& A);
template <class V>
model::KernelTraffic traffic_of_residual(const matrix::DistMatrix<double>& A);
template <class V>
model::KernelTraffic traffic_of_transposed(const matrix::DistMatrix<double>& A);

/// Returns the traffic of the residual that a Gauss-Seidel sweep from zero leaves: what it has read
/// is not read again.
template <class V>
model::KernelTraffic traffic_of_residual_from_zero(const matrix::DistMatrix<double>& A);

/// Whether the traffic of the smoother's sweeps is counted here.
bool counts_sweeps(const amg::Options& options);
/// Local. Returns the traffic of a sweep, from zero or from what x holds.
template <class V>
model::KernelTraffic traffic_of_sweep(const matrix::DistMatrix<double>& A,
                                      const amg::Options& options, bool from_zero);

}  // namespace nodewise::roofline
