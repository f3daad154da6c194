// What rounding leaves of a coarse matrix where that should be zero.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// Local. C = P^T A P with zeros in place of what is round-off in its isolated points: points of
/// `unknowns` rows each that no entry joins to another. A component of the matrix whose null space
/// P reproduces ends in such a point, as a part of a graph does in its Laplacian, and the sum that
/// should be zero is +-1e-17, by which a smoother would divide. An entry c_ij is round-off up to
/// 100 units in the last place of sqrt(s_i s_j), s_i = sum_k p_ki^2 |a_kk| over this rank's rows of
/// P. C itself, without a pass through P, where there are no isolated points.
template <class T>
matrix::DistMatrix<T> without_round_off(const matrix::DistMatrix<T>& C,
                                        const matrix::DistMatrix<T>& A,
                                        const matrix::DistMatrix<T>& P, int unknowns);

}  // namespace nodewise::amg
