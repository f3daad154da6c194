// The matrix of the next level of a hierarchy.
#pragma once

#include <optional>

#include "nodewise/amg/options.hpp"
#include "nodewise/amg/setup/level.hpp"

namespace nodewise::amg {

/// Collective. Returns P^T A P, or R A P without its small entries where R is not null, as a cycle
/// can use it: no rows of zeros, no round-off in the place of zeros. P and R are those of the
/// transfer on the route of the setup. Where coarse matrices lose entries P's rows that it fetched
/// are left in transfer.fetched. A failure of this rank alone is left in transfer.failure.
template <class T>
MatrixPointer<T> coarse_matrix(const matrix::DistMatrix<T>& A, const matrix::DistMatrix<T>* R,
                               const matrix::DistMatrix<T>& P, GridTransfer<T>& transfer,
                               const Options& options);

/// The matrices of a level and of the next before a rebuild, for their patterns.
template <class T>
struct Patterns {
  const matrix::DistMatrix<T>& A;
  const matrix::DistMatrix<T>& next;
};

/// Collective. The same from new values A of a level's matrix, on the pattern that it has; the
/// first call plans. A failure of this rank alone is left in `failure`.
template <class T>
MatrixPointer<T> coarse_matrix_again(Level<T>& level, const Patterns<T>& before,
                                     const matrix::DistMatrix<T>& A, const Options& options,
                                     std::optional<Error>& failure);

}  // namespace nodewise::amg
