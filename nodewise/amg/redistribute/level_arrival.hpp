// A coarse level that is made on the ranks which compute it, and then moved to fewer.
#pragma once

#include <memory>
#include <optional>

#include "nodewise/amg/grid_transfer.hpp"

namespace nodewise::amg {

/// Collective. The next level's matrix on the ranks that `move` takes its rows to, A being that of
/// the ranks which computed it; P and R stay as they are, and what is known of the level besides
/// goes along. Costs what matrix::redistribute() does and an exchange of each such thing.
template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> move_next_matrix(
    GridTransfer<T>& transfer, const std::shared_ptr<const matrix::DistMatrix<T>>& A,
    const comm::RowMove& move);

/// Collective. Likewise for other values; throws on every rank what `failure` says on any.
template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> move_next_matrix_again(
    GridTransfer<T>& transfer, const matrix::DistMatrix<T>& A, const std::optional<Error>& failure);

/// Collective. The prolongation from the next level as that is laid out: P, or another matrix where
/// P is laid out for the ranks that computed the level.
template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> prolongation_from_next(
    const GridTransfer<T>& transfer);

}  // namespace nodewise::amg
