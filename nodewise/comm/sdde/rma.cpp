#include <algorithm>
#include <limits>
#include <vector>

#include "nodewise/comm/sdde/algorithms.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

namespace {

/// A window with a slot for each rank: its message, and a byte that says that there is one. Puts
/// end with a flush and a barrier: MPICH 4.0 over UCX does not wait for them at the end of a fence.
class Window {
 public:
  Window(const mpi::Comm& comm, Offset slot_bytes) : comm_(comm), slot_bytes_(slot_bytes) {
    const mpi::CollectiveCall call(comm_);
    // MPI's own memory: Open MPI offers windows on a node for no other, unless the system lets
    // processes read each other's.
    const int status = MPI_Win_allocate(static_cast<MPI_Aint>(memory_bytes()), 1, MPI_INFO_NULL,
                                        comm.get(), static_cast<void*>(&memory_), &window_);
    mpi::check(status, "sparse exchange: this MPI cannot make the window of rma: MPI_Win_allocate");
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    std::fill_n(memory_, memory_bytes(), std::byte{0});
  }
  ~Window() {
    const mpi::CollectiveCall call(comm_);
    MPI_Win_free(&window_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// From here on ranks put into each other's slots.
  void open() {
    const mpi::CollectiveCall call(comm_);
    mpi::check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    mpi::check(MPI_Win_sync(window_), "MPI_Win_sync");
    mpi::check(MPI_Barrier(comm_.get()), "MPI_Barrier");
  }
  /// From here on all that was put here can be read.
  void close() {
    const mpi::CollectiveCall call(comm_);
    mpi::check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
    mpi::check(MPI_Barrier(comm_.get()), "MPI_Barrier");
    mpi::check(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
  }
  /// Puts this rank's slot to another rank.
  void put(std::span<const std::byte> data, int rank, Offset piece_bytes) {
    Offset at = comm_.rank() * slot_bytes_;
    while (!data.empty()) {
      const auto piece = std::min(data.size(), static_cast<std::size_t>(piece_bytes));
      mpi::check(MPI_Put(data.data(), static_cast<int>(piece), MPI_BYTE, rank,
                         static_cast<MPI_Aint>(at), static_cast<int>(piece), MPI_BYTE, window_),
                 "MPI_Put");
      comm_.count_message(rank, static_cast<std::int64_t>(piece));
      data = data.subspan(piece);
      at += static_cast<Offset>(piece);
    }
  }
  /// Local. Takes the messages that were put here.
  void empty_into(ReceiveBuffers& inbox) const {
    for (int source = 0; source < comm_.size(); ++source) {
      const std::byte* slot = memory_ + source * slot_bytes_;
      if (slot[slot_bytes_ - 1] == std::byte{0}) continue;
      inbox.take(source, {slot, static_cast<std::size_t>(slot_bytes_ - 1)});
    }
  }

 private:
  /// Rounded up: MPICH 4.0 puts into the wrong rank's memory on a node where it is no multiple of
  /// 16 bytes.
  Offset memory_bytes() const { return (comm_.size() * slot_bytes_ + 63) / 64 * 64; }

  const mpi::Comm& comm_;
  Offset slot_bytes_;
  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

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

void rma(Call& call) {
  const mpi::Comm& comm = call.channel.comm;
  Offset slot_bytes = 0;
  std::vector<std::byte> outgoing;
  if (!call.error) {
    call.error = mpi::caught([&] {
      const auto item_bytes = static_cast<Offset>(call.sends.item_bytes);
      const Offset most = (std::numeric_limits<MPI_Aint>::max() - 64) / comm.size() - 1;
      if (call.sends.equal_count.value_or(0) > most / item_bytes) {
        throw Error(ErrorCode::out_of_memory, "rma: not enough memory for a message of every rank");
      }
      slot_bytes = call.sends.equal_count.value_or(0) * item_bytes + 1;
      outgoing = flagged(call.sends, static_cast<std::size_t>(slot_bytes - 1));
    });
  }
  call.termination.start(call.vote());
  call.termination.wait();
  if (call.is_void()) return;

  const auto slot = static_cast<std::size_t>(slot_bytes);
  Window window(comm, slot_bytes);
  window.open();
  for (std::size_t i = 0; i < call.sends.ranks.size(); ++i) {
    window.put(std::span(outgoing).subspan(i * slot, slot), call.sends.ranks[i],
               call.channel.piece_bytes);
  }
  window.close();
  const auto crosses = [&](int to) { return !comm.topology().same_node(comm.rank(), to); };
  const std::span<const int> ranks = call.sends.ranks;
  if (std::any_of(ranks.begin(), ranks.end(), crosses)) comm.ledger().count_waits(1);
  window.empty_into(call.inbox);
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
