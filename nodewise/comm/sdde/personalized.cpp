#include <vector>

#include "nodewise/comm/sdde/algorithms.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

namespace {

void receive_piece(const Channel& channel, ReceiveBuffers& inbox) {
  MPI_Status found;
  mpi::check(MPI_Probe(MPI_ANY_SOURCE, channel.tag, channel.comm.get(), &found), "MPI_Probe");
  inbox.receive(channel, found);
}

void receive(const Channel& channel, Offset pieces, ReceiveBuffers& inbox) {
  for (; pieces > 0; --pieces) receive_piece(channel, inbox);
}

}  // namespace

void send_personalized(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox) {
  // The only array with an element for every rank: what goes into the reduce-scatter.
  std::vector<std::int64_t> pieces(static_cast<std::size_t>(channel.comm.size()), 0);
  outbox.count_pieces(pieces);
  outbox.take_own(inbox);
  outbox.post(false);
  std::int64_t expected = 0;
  {
    const mpi::CollectiveCall call(channel.comm);
    mpi::check(MPI_Reduce_scatter_block(pieces.data(), &expected, 1, MPI_INT64_T, MPI_SUM,
                                        channel.comm.get()),
               "MPI_Reduce_scatter_block");
  }
  receive(channel, expected, inbox);
  outbox.wait();
  count_wait(channel, outbox, inbox);
}

void send_counted(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox,
                  Offset expected) {
  outbox.take_own(inbox);
  outbox.post(false);
  receive(channel, expected, inbox);
  outbox.wait();
  count_wait(channel, outbox, inbox);
}

void expected(Call& call) {
  call.counts = count_messages(
      call.channel, call.sends,
      {.failed = call.error.has_value(), .n_receives = call.n_receives, .by_rank = false});
  if (call.is_void()) return;
  SendRequests outbox(call.channel, call.sends);
  outbox.take_own(call.inbox);
  outbox.post(false);
  while (call.inbox.n_ended() < *call.n_receives) receive_piece(call.channel, call.inbox);
  outbox.wait();
  count_wait(call.channel, outbox, call.inbox);
}

void personalized(Call& call) {
  SendRequests outbox(call.channel, call.sends);
  if (call.counts) return send_counted(call.channel, outbox, call.inbox, call.counts->expected);
  call.termination.start(call.vote());  // travels beside the reduce-scatter
  send_personalized(call.channel, outbox, call.inbox);
  call.termination.wait();
}

const mpi::SparseExchangeMethod& personalized_method() {
  static const mpi::SparseExchangeMethod method = {
      {"personalized", "a reduction tells each rank how much it will receive",
       "Geyko et al. 2024, algorithm 1"},
      false,
      "",
      personalized};
  return method;
}

}  // namespace nodewise::comm::sdde
