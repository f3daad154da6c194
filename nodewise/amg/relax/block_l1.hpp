// What the l1 forms of block relaxations add to the diagonals of the diagonal blocks.
#pragma once

#include <span>
#include <vector>

#include "nodewise/matrix/block_matrix.hpp"

namespace nodewise::amg::relax {

/// Local. For Jacobi: the moduli of each row outside its diagonal block. For a symmetric positive
/// definite A the blocks D are then such that D - A is semidefinite.
template <class T>
std::vector<double> sums_outside_blocks(const matrix::DistMatrix<T>& A);

/// Local. For hybrid Gauss-Seidel: half the moduli of what couples a row to other ranks and to the
/// points of other parts, s / 2; part p has the points parts[p] .. parts[p + 1) of this rank. The
/// sweep's M + M^T - A is D + 2 (s / 2) less these couplings, that is the blocks D and something
/// diagonally dominant. Nothing for a point whose block without 3/2 s on its diagonal is positive
/// definite still, which is enough by itself; for single rows that is remark 6.2 of Baker, Falgout,
/// Kolev, Yang, "Multigrid smoothers for ultraparallel computing", 2011.
template <class T>
std::vector<double> truncated_half_sums(const matrix::DistMatrix<T>& A,
                                        std::span<const LocalIndex> parts);

/// Local. The same for sweeps that go through the rows of a point one after another: nothing for a
/// row whose half sum is at most a third of its diagonal, remark 6.2 as it stands.
template <class T>
std::vector<double> truncated_half_sums_of_rows(const matrix::DistMatrix<T>& A,
                                                std::span<const LocalIndex> parts);

}  // namespace nodewise::amg::relax
