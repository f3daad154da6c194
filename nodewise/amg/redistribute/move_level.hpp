// Moving the rows of a level that is in the making to fewer ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/redistribute/group_method.hpp"
#include "nodewise/amg/redistribute/redistribution_method.hpp"
#include "nodewise/comm/row_move.hpp"

namespace nodewise::amg {

/// On how many ranks a level is to be, and on which.
struct Grouping {
  int ranks = 1;
  const GroupMethod* groups = nullptr;
  std::vector<RankCoupling> couplings = {};  ///< where the method needs them
};

/// Collective where they are on more. How the rows of a level, laid out by `rows`, get to so many
/// ranks; else nothing. Rows keep their numbers where ranks that give their rows to one follow each
/// other. Throws on every rank what `failure` says on any. An agreement, and what making a RowMove
/// costs.
std::optional<comm::RowMove> choose_move(const comm::Layout& rows, const Grouping& grouping,
                                         const std::optional<Error>& failure,
                                         const comm::Route& route = "direct");

/// Local. Where the rows of virtual ranks, which begin at `starts`, begin after the move. Throws
/// unsupported where rows would be numbered anew: one rank that stands for many keeps its numbers.
std::vector<GlobalIndex> moved_starts(std::vector<GlobalIndex> starts,
                                      const mpi::Topology& topology, const Grouping& grouping);
/// Local. How large a level is whose rows begin at `starts`.
LevelSize size_of_level(std::span<const GlobalIndex> starts, int level);

/// Collective. Moves the vectors with the rows: one exchange, of as many values a row as there are
/// vectors.
template <class T>
void move_near_null_space(NearNullSpace<T>& space, const comm::RowMove& move);

/// Collective. Moves what is known of the next level besides its matrix, if nothing failed before
/// on any rank. An exchange of each, and a reduction.
template <class T>
void move_knowledge(GridTransfer<T>& transfer, const comm::RowMove& move);
/// Collective. Likewise what its entries are sums of, which comes with the matrix.
template <class T>
void move_sizes(GridTransfer<T>& transfer, const comm::RowMove& move);

/// Collective. The transfer to a next level that is moved: columns of P and rows of R are laid out
/// by the new ranks, so that a restriction brings its sums straight there, a prolongation fetches
/// from there, and the Galerkin product returns its rows there. A level on fewer ranks so costs a
/// cycle no message of its own. Costs an exchange of what is known of the level besides its matrix,
/// a row exchange where there is an R, and making the matrices anew.
template <class T>
void move_next_level(GridTransfer<T>& transfer, const comm::RowMove& move);

}  // namespace nodewise::amg
