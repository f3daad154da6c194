#include <thread>

#include "nodewise/comm/sdde/algorithms.hpp"

namespace nodewise::comm::sdde {

namespace {

/// Gives up the core after a while of polling in vain: where ranks outnumber cores, the rank that
/// is waited for may need it. Before that, and where cores suffice, it costs nothing.
class Patience {
 public:
  void lose() {
    if (++fruitless_ >= limit) std::this_thread::yield();
  }
  void regain() { fruitless_ = 0; }

 private:
  static constexpr int limit = 200;
  int fruitless_ = 0;
};

}  // namespace

void send_nonblocking(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox,
                      TerminationReduction& termination, const Vote& vote) {
  outbox.take_own(inbox);
  outbox.post(true);
  Patience patience;
  for (bool voted = false; !voted || !termination.done();) {
    if (inbox.receive_any(channel)) {
      patience.regain();
      continue;
    }
    if (!voted && outbox.done()) {
      termination.start(vote);
      voted = true;
    }
    patience.lose();
  }
  count_wait(channel, outbox, inbox, true);
}

void nonblocking(Call& call) {
  SendRequests outbox(call.channel, call.sends);
  send_nonblocking(call.channel, outbox, call.inbox, call.termination, call.vote());
}

const mpi::SparseExchangeMethod& nonblocking_method() {
  static const mpi::SparseExchangeMethod method = {
      {"nonblocking", "synchronous sends and a nonblocking barrier",
       "Hoefler, Siebert, Lumsdaine 2010 (NBX)"},
      false,
      "",
      nonblocking};
  return method;
}

}  // namespace nodewise::comm::sdde
