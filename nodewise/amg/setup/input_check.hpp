// The requirements of multigrid on a matrix, checked before the setup.
#pragma once

#include <span>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

/// Collective. Refuses, on every rank, a matrix that multigrid cannot start from:
/// dimension_mismatch where it is not square, unsuitable_matrix where it has an entry that is not
/// finite, an empty row, or a diagonal that a smoother could not divide by; and invalid_argument
/// where an option is out of its range, or `same` is not. One agreement.
template <class T>
void check_matrix(const matrix::DistMatrix<T>& A, const Options& options, const mpi::Same& same);

/// Local. Throws unsupported where a thread is to talk beside others, and MPI does not allow it.
void check_overlap(const Options& options);
/// Collective. Ranges of virtual ranks are for one real rank, and have all its rows; throws
/// invalid_argument otherwise, on every rank. Empty: there are none.
template <class T>
void check_starts(const matrix::DistMatrix<T>& A, std::span<const GlobalIndex> starts);

/// Collective. Throws, on every rank, where the finest matrix, what is known of it and the options
/// do not fit; replaces what the options leave open by what suits the matrix. Returns whether it is
/// symmetric, if that is known, or found since anything depends on it.
template <class T>
std::optional<bool> examine(const matrix::DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                            Options& options);

}  // namespace nodewise::amg
