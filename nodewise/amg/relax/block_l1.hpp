// The terms that the l1 forms of block relaxations add to the diagonals of the diagonal blocks.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/relax/row_scales.hpp"
#include "nodewise/matrix/block_matrix.hpp"

namespace nodewise::amg::relax {

/// Local. For Jacobi: the couplings of each row outside its diagonal block. For a symmetric
/// positive definite A the blocks D are then such that D - A is semidefinite.
template <class T>
std::vector<double> sums_outside_blocks(const matrix::DistMatrix<T>& A,
                                        const CouplingSums<T>& couplings);

/// Local. For hybrid Gauss-Seidel with a weight w: w / 2 times the sum s of what couples a row
/// to other ranks and to the points of other parts; part p has the points parts[p] .. parts[p + 1)
/// of this rank. The sweep's M + M^T - A is (2 / w) (D + w s / 2) - D less these couplings, that is
/// (2 / w - 1) D and something diagonally dominant. Nothing for a point where the former without
/// 3/2 s on its diagonal is positive definite still, which is enough by itself; for single rows and
/// w = 1 that is remark 6.2 of Baker, Falgout, Kolev, Yang, "Multigrid smoothers for ultraparallel
/// computing", 2011.
template <class T>
std::vector<double> truncated_half_sums(const matrix::DistMatrix<T>& A,
                                        const CouplingSums<T>& couplings,
                                        std::span<const LocalIndex> parts, double weight);

/// Local. The same for sweeps that go through the rows of a point one after another: nothing for a
/// row where s / 2 is at most a third of (2 / w - 1) d, d being its diagonal entry.
template <class T>
std::vector<double> truncated_half_sums_of_rows(const matrix::DistMatrix<T>& A,
                                                const CouplingSums<T>& couplings,
                                                std::span<const LocalIndex> parts, double weight);

}  // namespace nodewise::amg::relax
