// What an estimate of a condition number takes of a matrix and a vector, on a device.
#pragma once

#include "nodewise/device/csr_matrix.hpp"
#include "nodewise/device/sums.hpp"

namespace nodewise::device {

/// Local. sums[i] = sum_j |a_ij| / |a_ii|, moduli[i] = |a_ii|, inverses[i] = 1 / |a_ii|.
template <class Space>
void weigh_rows(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double* sums,
                double* moduli, double* inverses);

/// Local. x[i] = 0.5 + a number in [0, 1), hashed from first + i and this seed.
template <class Space>
void start_smooth(Queue<Space>& queue, std::int64_t n, GlobalIndex first, std::uint64_t seed,
                  double* x);

/// Local. x[i] *= weights[i].
template <class Space>
void multiply_each(Queue<Space>& queue, std::int64_t n, const double* weights, double* x);

/// Local. The sum of weights[i] x[i]^2, in SumOrder. Waits.
template <class Space>
double weighted_square(Queue<Space>& queue, std::int64_t n, const double* weights, const double* x);

}  // namespace nodewise::device
