// The matrix of a level, as its relaxation reads it, and its facts.
#pragma once

#include "nodewise/amg/options.hpp"
#include "nodewise/amg/setup/level.hpp"
#include "nodewise/amg/setup/level_info.hpp"

namespace nodewise::amg {

/// Local. What is known of a level, of traffic and ranks only this rank's part.
template <class T>
LevelInfo describe(const matrix::DistMatrix<T>& A, const routing::LevelRoutes& routes);

/// How many rows make a point of a level: in classical coarsening coarse points have unknowns of
/// their own.
template <class T>
int rows_of_a_point(const ProblemInfo<T>& knowledge, const Options& options);

/// Collective. The matrix of a level as its relaxation reads it: in blocks where it works on them,
/// or goes by rows and they are full.
template <class T>
MatrixPointer<T> in_blocks(const MatrixPointer<T>& A, int block, const Options& options);

}  // namespace nodewise::amg
