// A coarse level that one rank of each node has as a whole, so that nothing below crosses the
// network.
#pragma once

#include <memory>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// The way from a level to the copies of the next one. A restriction brings every copy its whole
/// right-hand side, each solves alone, and a prolongation takes what it needs from its node's copy.
/// One of them is that of the rank that the rows were moved to: the level as everybody else sees
/// it. All copies have the same matrix, bit for bit; their right-hand sides may differ in the order
/// of sums. (Redundant coarse solves: Gropp 1992; Womble and Young 1990.)
template <class T>
struct LevelCopies {
  using Matrix = std::shared_ptr<const matrix::DistMatrix<T>>;

  /// The rows of the level, once for each copy, from those of the rank that has them.
  Matrix copier;
  /// [P P ... P], by whose transpose a restriction goes; null where there is an R.
  Matrix to_copies;
  Matrix R;          ///< its rows once for each copy; null where there is none
  Matrix from_copy;  ///< the rows of P of this node, whose columns its copy has
  /// Of this rank alone where it has a copy and is not the rank that the rows were moved to.
  std::shared_ptr<const mpi::Comm> alone;
  /// The matrix of the copy that `alone` has.
  Matrix A;
};

/// Collective on the ranks of P. Null where P's columns are on several ranks or all ranks are on
/// one node. Makes the communicators of `earlier` do, if there are any. Costs the making of four
/// matrices, of which the two that solves go by take the routes of P and R.
template <class T>
std::shared_ptr<LevelCopies<T>> make_copies(const GridTransfer<T>& transfer,
                                            const LevelCopies<T>* earlier);

/// Collective on the ranks of A, the level's matrix on the rank that the rows were moved to. Gives
/// the copies the matrix and, in `transfer`, what is known of the level besides: a row exchange and
/// one of vectors for each of these.
template <class T>
void fill_copies(GridTransfer<T>& transfer, const matrix::DistMatrix<T>& A);

/// Likewise for other values of A.
template <class T>
void fill_copies_again(GridTransfer<T>& transfer, const matrix::DistMatrix<T>& A);

}  // namespace nodewise::amg
