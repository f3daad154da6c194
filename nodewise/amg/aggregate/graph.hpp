// The graph that is aggregated: points, and how strongly they are connected.
#pragma once

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// What the entries of the graph that is aggregated are compared with.
enum class ConnectionMeasure {
  symmetric,  ///< aggregate::symmetric_strength()
  classical   ///< aggregate::either_strength()
};

}  // namespace nodewise::amg

namespace nodewise::amg::aggregate {

/// Collective. The matrix of a system with one row for each point, of `unknowns` rows of A each:
/// its entries are the Frobenius norms of A's blocks, the diagonal included. Makes a matrix: one
/// sparse exchange and one allreduce. Throws on every rank what require_whole_points() throws,
/// dimension_mismatch where A is not square.
template <class T>
matrix::DistMatrix<T> block_norms(const matrix::DistMatrix<T>& A, int unknowns);

/// Collective. Points i and j are strongly connected where |g_ij| > threshold sqrt(|g_ii g_jj|):
/// Vanek, Mandel, Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order
/// elliptic problems", 1996, section 3. The marks of a symmetric matrix are symmetric, whatever the
/// rounding. One exchange of G; none for the threshold 0, which marks all entries but zeros.
template <class T>
Strength symmetric_strength(const matrix::DistMatrix<T>& G, double threshold);

/// Collective. Point i is strongly connected to j where g_ij is strong by the measure of row i in
/// strength_of_connection(), or would be as an entry of row j: Bienz, "Reducing communication in
/// sparse solvers", 2018, section 7.2.2. The marks of a symmetric matrix are symmetric. One
/// exchange of G, since a row's largest and the sign of its diagonal are one number. `measure` is
/// not automatic; entries that are norms have no sign, and need `absolute`.
template <class T>
Strength either_strength(const matrix::DistMatrix<T>& G, double threshold, StrengthMeasure measure);

}  // namespace nodewise::amg::aggregate
