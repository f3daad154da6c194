// What rounding leaves of a coarse matrix where that should be zero.
#pragma once

#include "nodewise/base/array.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// Local. s_i = sum_k p_ki^2 |a_kk|, of the summands of c_ii for each of this rank's columns of P,
/// over this rank's rows: what rounding leaves of an entry c_ij of C = P^T A P is in proportion to
/// sqrt(s_i s_j), whatever c_ij is.
template <class T>
Array<double> summand_sizes(const matrix::DistMatrix<T>& A, const matrix::DistMatrix<T>& P);

/// Of this many units in the last place an entry may be nothing but rounding.
inline constexpr double round_off_units = 100;

/// Local. C = P^T A P with zeros in place of what is round-off in its isolated points: points of
/// `unknowns` rows each that no entry joins to another. A component of the matrix whose null space
/// P reproduces ends in such a point, as a part of a graph does in its Laplacian, and the sum that
/// should be zero is +-1e-17, by which a smoother would divide. An entry c_ij is round-off up to
/// round_off_units of sqrt(s_i s_j), s being summand_sizes(). C itself, without a pass through P,
/// where there are no isolated points.
template <class T>
matrix::DistMatrix<T> without_round_off(const matrix::DistMatrix<T>& C,
                                        const matrix::DistMatrix<T>& A,
                                        const matrix::DistMatrix<T>& P, int unknowns);

}  // namespace nodewise::amg
