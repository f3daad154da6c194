// Smoothing a tentative prolongator.
#pragma once

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::aggregate {

/// Collective. Returns (I - damping D^-1 A)^sweeps P with the diagonal D of A; a sweep is one
/// product (Vanek, Mandel, Brezina 1996, section 3, whose damping is 4/3 over the spectral radius
/// of D^-1 A). Rows with a zero diagonal stay as they are. A sweep costs one row exchange of A for
/// rows of P, and a new matrix. The stored places of P stay, whatever cancels. Where A has blocks,
/// and the columns of P come in points of `unknowns`, it goes block by block, and the result is
/// then full wherever a block of A times one of P may be. Throws dimension_mismatch on every rank
/// where the shapes do not fit.
template <class T>
matrix::DistMatrix<T> smooth_prolongator(const matrix::DistMatrix<T>& A,
                                         const matrix::DistMatrix<T>& P, double damping, int sweeps,
                                         int unknowns = 1);

/// Collective. Returns A without its weak entries (Vanek, Mandel, Brezina 1996, section 3).
/// `strength` marks the entries of the graph of A's points, `unknowns` rows each. Dropped entries
/// are added to the same unknown of the row's own point, so that vectors that are constant in every
/// unknown have the same product as with A. A row whose diagonal would lose its sign or nearly all
/// of its size (below a tenth) keeps its weak entries. Costs the messages of a new matrix.
template <class T>
matrix::DistMatrix<T> without_weak_entries(const matrix::DistMatrix<T>& A,
                                           const matrix::DistMatrix<T>& graph,
                                           const Strength& strength, int unknowns);

}  // namespace nodewise::amg::aggregate
