// What the relaxations of levels are told of their matrices.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/amg/setup/level.hpp"

namespace nodewise::amg {

/// Collective. The spectral radius that the relaxation of a new level needs; 0 where it needs none.
template <class T>
double radius_for_smoother(Level<T>& level, const Options& options);

/// Collective. Likewise for new values A, while the level has the old ones, which are the first
/// ones the first time.
template <class T>
double radius_for_values(Level<T>& level, const matrix::DistMatrix<T>& A, const Options& options);

/// Collective. Of the matrices of levels that are relaxed and need them; the others' are empty.
template <class T>
std::vector<relax::RowScales> row_scales(const Levels<T>& levels,
                                         std::span<const MatrixPointer<T>> matrices,
                                         const relax::SmootherMethod& smoother);

/// Local. `scales` must outlive what is made of it.
template <class T>
relax::MatrixFacts facts_of(const Level<T>& level, double radius, const relax::RowScales& scales);

}  // namespace nodewise::amg
