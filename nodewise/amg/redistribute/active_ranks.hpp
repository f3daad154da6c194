// The ranks that have rows of a level, on a communicator of their own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/comm/layout.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// From a level on all is done by the ranks that have rows of it: reductions, agreements and sparse
/// exchanges involve nobody else.
struct ActiveRanks {
  std::shared_ptr<const mpi::Comm> comm;  ///< null on the other ranks
  comm::Layout above;      ///< of the level's rows, on the communicator of the level above
  std::vector<int> ranks;  ///< of that communicator, ascending

  bool is_here() const { return comm != nullptr; }
};

/// Local. Whether some ranks have rows and others have none.
bool has_idle_ranks(const comm::Layout& rows);
/// Collective on the ranks that have rows: what mpi::Comm::subset() costs. Needs has_idle_ranks().
ActiveRanks make_active_ranks(const comm::Layout& rows);

/// Local. A square matrix that is laid out by active.above, on the active ranks' communicator; on
/// one of them only. It must take the direct route.
template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> on_active_ranks(const matrix::DistMatrix<T>& A,
                                                             const ActiveRanks& active);

/// Local. A matrix as another communicator sees it: DistMatrix::with_comm(), and without_rows() of
/// one with so many nonzeros where this rank has no part of it, and M is null.
template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> seen_by(
    const std::shared_ptr<const matrix::DistMatrix<T>>& M, const comm::Layout& rows,
    const comm::Layout& cols, std::span<const int> ranks, GlobalIndex nonzeros);

}  // namespace nodewise::amg
