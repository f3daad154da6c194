// The transfer between a level and the next, and what its making starts from.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/coarsen/unknowns.hpp"
#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/base/error.hpp"
#include "nodewise/comm/row_move.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/row_exchange.hpp"

namespace nodewise::amg {

struct RedistributionDecision;
template <class T>
struct LevelCopies;

/// The facts of a problem, or of a level, besides its matrix.
template <class T>
struct ProblemInfo {
  /// The rows of virtual ranks: rank r has [starts[r], starts[r + 1]). On one rank the hierarchy is
  /// then coarsened as so many ranks would, to study a machine that is not at hand
  /// (amg/coarsen/virtual_ranks.hpp). Empty: none.
  std::vector<GlobalIndex> virtual_starts;
  NearNullSpace<T> near_null_space;
  /// Near null space vectors of the transposed matrix, as many. An aggregation makes its
  /// restriction of them where it does not transpose the prolongation; where there are none, of
  /// near_null_space.
  NearNullSpace<T> left_near_null_space = {};
  int unknowns = 0;  ///< rows of each point, interleaved; 0: as the options say
  /// Whether the matrix is symmetric, as matrix::is_symmetric() finds; the same on every rank. The
  /// setup takes what is given for granted, also of the values that it is rebuilt for, and else
  /// finds out where anything depends on it.
  std::optional<bool> symmetric = {};
  int level = 0;  ///< 0 being the finest
  /// In classical coarsening of systems, on coarser levels: the unknown of each of this rank's
  /// rows.
  Unknowns unknown_of_row = {};
  /// Where the virtual ranks are, which decides who takes whose rows where levels are put on fewer
  /// ranks; not needed otherwise.
  std::shared_ptr<const mpi::Topology> virtual_topology = {};
};

/// The result of coarsening a level.
template <class T>
struct GridTransfer {
  /// Prolongation from the next level; null where coarsening would not make the problem smaller.
  std::shared_ptr<const matrix::DistMatrix<T>> P;
  /// Restriction to the next level; null: the transpose of P.
  std::shared_ptr<const matrix::DistMatrix<T>> R;
  /// For each of this rank's rows of the next level the row of this level it stands for, ascending;
  /// in an aggregation the first row of an aggregate's root, for all unknowns.
  std::vector<LocalIndex> coarse_rows;
  std::shared_ptr<const aggregate::Aggregates> aggregates;               ///< in an aggregation
  NearNullSpace<T> coarse_near_null_space, coarse_left_near_null_space;  ///< as in ProblemInfo
  /// Rows of the next level whose column of P is zero while their row of R need not be, ascending.
  std::vector<LocalIndex> empty_columns;
  /// The sizes of what the entries of the next level are sums of (summand_sizes()), row by row,
  /// where that level may be solved directly.
  Array<double> coarse_sizes;
  int coarse_unknowns = 0;         ///< rows of each point of the next level; 0: as the options say
  double spectral_radius = 0;      ///< of D^-1 A, where it had to be found; 0: not known
  Unknowns coarse_unknown_of_row;  ///< as in ProblemInfo, of the next level
  /// How the rows of the next level got to fewer ranks, where they did.
  std::optional<comm::RowMove> move;
  /// The next level's matrix before that, where columns of P and rows of R are laid out as its
  /// rows; null: they are laid out as those of the level that was moved, or none was.
  std::shared_ptr<const matrix::DistMatrix<T>> before_move;
  /// The way to copies of the next level, where one rank of each node has all of it
  /// (amg/redistribute/level_copies.hpp).
  std::shared_ptr<LevelCopies<T>> copies;
  int n_copies = 1;  ///< of the next level; those of virtual ranks are counted only
  /// Why the next level is on so many ranks, where its costs decided it; otherwise null.
  std::shared_ptr<const RedistributionDecision> redistribution;
  /// P's rows for the ghosts of the matrix that the next level was made of, until that has lost
  /// entries; null where they are not at hand, or nobody asks.
  std::shared_ptr<const matrix::FetchedRows<T>> fetched;
  /// The failure of this rank alone after the last message, to be agreed on with what comes later.
  std::optional<Error> failure;
};

}  // namespace nodewise::amg
