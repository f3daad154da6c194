// How the ranks that use a card share the work of an exchange: who sends and receives what for
// whom.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::offload {

/// Items begin .. end of a message, which a core sends or receives.
struct Piece {
  std::size_t message;
  LocalIndex begin, end;
  int core;

  friend bool operator==(const Piece&, const Piece&) = default;
};

/// A message costs as much as so many items more.
inline constexpr LocalIndex message_items = 1024;

/// Local. Messages of these lengths, dealt to the cores in their order, so that each has about as
/// much to do. A message is cut where it is longer than a core's share of all items and than
/// message_items, so that short ones stay whole.
std::vector<Piece> deal_out(std::span<const LocalIndex> lengths, int n_cores);

/// The members of the communicator `sharing` as one of them counts them: itself, then the others,
/// ascending.
struct Members {
  explicit Members(const mpi::Comm& sharing) : n(sharing.size()), me(sharing.rank()) {}
  int rank(int member) const { return member == 0 ? me : member <= me ? member - 1 : member; }
  int member(int rank) const { return rank == me ? 0 : rank < me ? rank + 1 : rank; }
  int n, me;
};

/// A rank's part in an exchange that is shared out. Lists by member have Members::n + 1 offsets.
struct Shares {
  // Of its own data.
  std::vector<LocalIndex>
      packed_entries;  ///< owned entries, in the order in which members take them
  std::vector<LocalIndex> packed_offsets;   ///< by member that sends them
  std::vector<LocalIndex> arrived_offsets;  ///< its ghosts, by member that receives them
  std::vector<LocalIndex> ghost_places;     ///< of each ghost among those that arrived
  // Of what it does for the members.
  std::vector<LocalIndex> taken_offsets;    ///< what it sends, by member whose it is
  std::vector<LocalIndex> taken_from;       ///< where that begins in the member's packed entries
  std::vector<LocalIndex> brought_offsets;  ///< what it receives, by member for whom
  std::vector<LocalIndex> brought_to;       ///< where that begins among what arrives there
  comm::Plan plan;                          ///< its owned entries are taken, its ghosts brought
};

/// Collective. Shares out the exchange of a plan, which is planned anew over the route. Costs one
/// run of the plan, three sparse exchanges and four on each card, and what comm::make_plan() does.
/// Throws the same Error on every rank.
Shares share_out(const std::shared_ptr<const mpi::Comm>& comm,
                 const std::shared_ptr<const mpi::Comm>& sharing, const comm::Plan& plan,
                 const comm::Route& route);

}  // namespace nodewise::offload
