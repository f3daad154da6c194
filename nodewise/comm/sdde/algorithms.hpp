// The algorithms of the sparse dynamic data exchange. Collective all of them; called in the same
// order by all ranks of the channel's communicator.
// Source: Geyko, Collom, Schafer, Bridges, Bienz, "A more scalable sparse dynamic data exchange",
// 2024, algorithms 1 to 5. Algorithms 2 and 5 print MPI_Isend; their text, and termination, need
// synchronous sends. Algorithm 3 takes a zero value for "no message"; here a flag travels with it.
#pragma once

#include <optional>

#include "nodewise/comm/sdde/ballot.hpp"
#include "nodewise/comm/sdde/census.hpp"
#include "nodewise/comm/sdde/mailbox.hpp"

namespace nodewise::comm::sdde {

/// One exchange as one rank sees it.
struct Call {
  Channel channel;
  detail::SparseSends sends;   ///< nothing where this rank failed
  std::optional<Error> error;  ///< of this rank
  Inbox inbox;
  Ballot ballot;
  std::optional<Census> census;  ///< in place of the ballot, which is then never started

  explicit Call(const Channel& on) : channel(on), ballot(on.comm) {}
  Vote vote() const {
    return {error.has_value(), sends.equal_count, static_cast<Offset>(sends.data.size())};
  }
  // After the census or the ballot, the same on every rank:
  bool any_failed() const { return census ? census->any_failed : ballot.any_failed(); }
  /// Whether what was sent is not worth delivering.
  bool is_void() const {
    return any_failed() || (census ? census->counts_differ : ballot.counts_differ());
  }
};

/// Algorithm 1. A reduce-scatter over a vector of one number a rank tells each rank how many pieces
/// it will receive.
void send_personalized(const Channel& channel, Outbox& outbox, Inbox& inbox);
/// Algorithm 1 where a census told how many pieces come.
void send_counted(const Channel& channel, Outbox& outbox, Inbox& inbox, Offset expected);
/// Algorithm 2, NBX of Hoefler, Siebert, Lumsdaine 2010. Starts the ballot when all messages of
/// this rank were received, and ends with it.
void send_nonblocking(const Channel& channel, Outbox& outbox, Inbox& inbox, Ballot& ballot,
                      const Vote& vote);

// Each of the following also starts and completes the call's ballot, unless it has a census.
void personalized(Call& call);
void nonblocking(Call& call);
/// Algorithm 3, for messages of one size.
void rma(Call& call);
/// Algorithms 4 and 5, for nodes of any sizes and any placement of ranks. `synchronous` picks
/// algorithm 2 instead of 1 between nodes and on them.
void locality_aware(Call& call, bool synchronous);

}  // namespace nodewise::comm::sdde
