// What sweeps move and compute on a rank: parts that the descriptors of smoothers are made of.
#pragma once

#include "nodewise/amg/relax/smoother_method.hpp"

namespace nodewise::amg::relax {

/// Local. Of r = b - A x.
model::KernelTraffic residual_traffic(const SweepQuery& query);
/// Local. Of a loop over the rows that reads and writes so many vectors.
model::KernelTraffic vector_traffic(const SweepQuery& query, int read, int written,
                                    double flops_a_row);

/// Local. Gauss-Seidel through the rows, or points, one after another. From zero only what is below
/// the diagonal is looked at, and the residual then reads the rest; otherwise all of it.
Answer<SweepWork> gauss_seidel_work(const SweepQuery& query);
/// Local. A division by the diagonal, or by the diagonal blocks, and, unless it is from zero, the
/// residual before it.
Answer<SweepWork> jacobi_work(const SweepQuery& query);
Answer<SweepWork> block_jacobi_work(const SweepQuery& query);
/// Local. Forth and back through the factors.
Answer<SweepWork> ilu0_work(const SweepQuery& query);

}  // namespace nodewise::amg::relax
