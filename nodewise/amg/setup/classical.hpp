// Coarsening in the classical way: some of a level's points are those of the next.
#pragma once

#include <functional>

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/options.hpp"

namespace nodewise::amg {

/// Collective. Strength of connection, splitting and interpolation of a level, as the options say.
/// Messages take the route of A's exchange; what each step costs its function says. The splitting
/// is that of `earlier`, made of a matrix with the same rows, where there is one.
template <class T>
GridTransfer<T> classical_transfer(const matrix::DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                                   const Options& options,
                                   const GridTransfer<T>* earlier = nullptr);

/// Collective. Makes the restriction to the coarse points of a splitting.
template <class T>
using MakeRestriction = std::function<matrix::DistMatrix<T>(const matrix::DistMatrix<T>& A,
                                                            const coarsen::Splitting& splitting,
                                                            const comm::Layout& coarse_points)>;

/// Collective. The same for methods with a restriction of their own; null: the transposed
/// prolongation.
template <class T>
GridTransfer<T> transfer_by_points(const matrix::DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                                   const Options& options, const GridTransfer<T>* earlier,
                                   const MakeRestriction<T>& make_restriction);

}  // namespace nodewise::amg
