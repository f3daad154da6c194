#include <algorithm>
#include <limits>
#include <vector>

#include "nodewise/comm/sdde/algorithms.hpp"
#include "nodewise/comm/sdde/slots.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

namespace {

/// The messages one behind the other, each with the byte that says that it is there.
std::vector<std::byte> flagged(const detail::SparseSends& sends, std::size_t message_bytes) {
  std::vector<std::byte> all;
  all.reserve(sends.ranks.size() * (message_bytes + 1));
  for (std::size_t i = 0; i < sends.ranks.size(); ++i) {
    const auto message = sends.data.subspan(i * message_bytes, message_bytes);
    all.insert(all.end(), message.begin(), message.end());
    all.push_back(std::byte{1});
  }
  return all;
}

}  // namespace

Offset bytes_of_each(const Call& call, Offset n_slots) {
  const auto item_bytes = static_cast<Offset>(call.sends.item_bytes);
  const Offset count = call.sends.equal_count.value_or(0);
  const Offset most =
      (std::numeric_limits<MPI_Aint>::max() - 64) / std::max<Offset>(1, n_slots) - 1;
  if (count > most / item_bytes) {
    throw Error(ErrorCode::out_of_memory, "rma: not enough memory for a message of every rank");
  }
  return count * item_bytes;
}

void rma(Call& call) {
  const mpi::Comm& comm = call.channel.comm;
  Offset message_bytes = 0;
  std::vector<std::byte> outgoing;
  if (!call.error) {
    call.error = mpi::caught([&] {
      message_bytes = bytes_of_each(call, comm.size());
      outgoing = flagged(call.sends, static_cast<std::size_t>(message_bytes));
    });
  }
  call.termination.start(call.vote());
  call.termination.wait();
  if (call.is_void()) return;

  Slots slots(call.channel, &rma_method(), comm.size(), message_bytes);
  const auto length = static_cast<std::size_t>(slots.slot_bytes());
  for (std::size_t i = 0; i < call.sends.ranks.size(); ++i) {
    slots.put(std::span(outgoing).subspan(i * length, length), call.sends.ranks[i], comm.rank());
  }
  slots.close();
  const auto crosses = [&](int to) { return !comm.topology().same_node(comm.rank(), to); };
  const std::span<const int> ranks = call.sends.ranks;
  if (std::any_of(ranks.begin(), ranks.end(), crosses)) comm.ledger().count_waits(1);
  slots.empty([&](Offset source, std::span<const std::byte> message) {
    call.inbox.take(static_cast<int>(source), message);
  });
}

const mpi::SparseExchangeMethod& rma_method() {
  static const mpi::SparseExchangeMethod method = {
      {"rma", "one-sided; messages of one size only", "Geyko et al. 2024, algorithm 3"},
      true,
      "",
      rma};
  return method;
}

}  // namespace nodewise::comm::sdde
