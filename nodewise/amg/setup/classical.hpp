// Coarsening in the classical way: some of a level's points are those of the next.
#pragma once

#include <span>

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

// The choices it makes by the options, for those who count its messages.

/// Whether a level is coarsened in two stages.
bool is_aggressive(int level, const Options& options);

/// What a level is interpolated by; not `automatic`.
Interpolation formula_of(int level, const Options& options);

/// Collective. A splitting, or a stage of one in two. `blocks` are those of virtual ranks, if there
/// are such.
template <class T>
coarsen::Splitting split(const matrix::DistMatrix<T>& A, const Strength& strength,
                         std::span<const GlobalIndex> blocks, const Options& options);

}  // namespace nodewise::amg
