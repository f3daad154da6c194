#include <vector>

#include "nodewise/comm/sdde/algorithms.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

namespace {

void receive(const Channel& channel, Offset pieces, Inbox& inbox) {
  for (; pieces > 0; --pieces) {
    MPI_Status found;
    mpi::check(MPI_Probe(MPI_ANY_SOURCE, channel.tag, channel.comm.get(), &found), "MPI_Probe");
    inbox.receive(channel, found);
  }
}

}  // namespace

void send_personalized(const Channel& channel, Outbox& outbox, Inbox& inbox) {
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
}

void send_counted(const Channel& channel, Outbox& outbox, Inbox& inbox, Offset expected) {
  outbox.take_own(inbox);
  outbox.post(false);
  receive(channel, expected, inbox);
  outbox.wait();
}

void personalized(Call& call) {
  Outbox outbox(call.channel, call.sends);
  if (call.census) return send_counted(call.channel, outbox, call.inbox, call.census->expected);
  call.ballot.start(call.vote());  // travels beside the reduce-scatter
  send_personalized(call.channel, outbox, call.inbox);
  call.ballot.wait();
}

}  // namespace nodewise::comm::sdde
