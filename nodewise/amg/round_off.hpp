// Round-off in entries of a coarse matrix that should be zero.
#pragma once

#include "nodewise/base/array.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// Local. Returns s_i = sqrt(sum_k r_ik^2 |a_kk|) sqrt(sum_k p_ki^2 |a_kk|) for each of this rank's
/// rows of the coarse matrix C = R A P, over this rank's rows of A; R = P^T where it is null.
/// Round-off in an entry c_ij is in proportion to sqrt(s_i s_j), whatever c_ij is.
template <class T>
Array<double> summand_sizes(const matrix::DistMatrix<T>& A, const matrix::DistMatrix<T>* R,
                            const matrix::DistMatrix<T>& P);

/// The units in the last place up to which an entry may be nothing but rounding.
inline constexpr double round_off_units = 100;

/// Local. Returns C = R A P (P^T A P where R is null) with zeros in place of round-off in its
/// isolated points: points of `unknowns` rows each in which no entry joins another. A component of
/// the matrix whose null space P reproduces ends in such a point, as a part of a graph does in its
/// Laplacian. The sum that should be zero is then +-1e-17, by which a smoother would divide. An
/// entry c_ij is round-off up to round_off_units of sqrt(s_i s_j), s being summand_sizes(). Returns
/// C itself, without a pass through R or P, where there are no isolated points.
template <class T>
matrix::DistMatrix<T> without_round_off(const matrix::DistMatrix<T>& C,
                                        const matrix::DistMatrix<T>& A,
                                        const matrix::DistMatrix<T>* R,
                                        const matrix::DistMatrix<T>& P, int unknowns);

}  // namespace nodewise::amg
