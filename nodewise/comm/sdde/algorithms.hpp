// The algorithms of the sparse dynamic data exchange. Collective all of them; called in the same
// order by all ranks of the channel's communicator.
// Source: Geyko, Collom, Schafer, Bridges, Bienz, "A more scalable sparse dynamic data exchange",
// 2024, algorithms 1 to 5. Algorithms 2 and 5 print MPI_Isend; their text, and termination, need
// synchronous sends. Algorithm 3 takes a zero value for "no message"; here a flag travels with it.
#pragma once

#include <optional>

#include "nodewise/comm/sdde/buffers.hpp"
#include "nodewise/comm/sdde/message_count.hpp"
#include "nodewise/comm/sdde/termination_reduction.hpp"

namespace nodewise::comm::sdde {

/// One exchange as one rank sees it.
struct Call {
  Channel channel;
  detail::SparseSends sends;   ///< nothing where this rank failed
  std::optional<Error> error;  ///< of this rank
  ReceiveBuffers inbox;
  TerminationReduction termination;
  std::optional<MessageCountReduction>
      counts;                        ///< in place of the termination, which is then never started
  std::optional<Offset> n_receives;  ///< where this rank knows

  explicit Call(const Channel& on) : channel(on), termination(on.comm) {}
  Vote vote() const {
    return {error.has_value(), sends.equal_count, static_cast<Offset>(sends.data.size())};
  }
  // After the counts or the termination, the same on every rank:
  bool any_failed() const { return counts ? counts->any_failed : termination.any_failed(); }
  /// Whether what was sent is not worth delivering.
  bool is_void() const {
    return any_failed() || (counts ? counts->counts_differ || counts->receives_differ
                                   : termination.counts_differ());
  }
};

/// Algorithm 1. A reduce-scatter over a vector of one number a rank tells each rank how many pieces
/// it will receive.
void send_personalized(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox);
/// Algorithm 1 where counts told how many pieces come.
void send_counted(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox,
                  Offset expected);
/// Algorithm 2, NBX of Hoefler, Siebert, Lumsdaine 2010. Starts the termination when all messages
/// of this rank were received, and ends with it.
void send_nonblocking(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox,
                      TerminationReduction& termination, const Vote& vote);

// Each of the following also starts and completes the call's termination, unless it has counts.
void personalized(Call& call);
void nonblocking(Call& call);
/// Local. The bytes of messages of one size; throws out_of_memory where no memory can hold so many
/// slots for them.
Offset bytes_of_each(const Call& call, Offset n_slots);
const mpi::SparseExchangeMethod& rma_method();
/// Algorithm 3, for messages of one size.
void rma(Call& call);
/// Where n_receives is known: one small reduction, then every message straight to its rank.
void expected(Call& call);

}  // namespace nodewise::comm::sdde
