#include "nodewise/comm/sdde/slots.hpp"

#include <algorithm>

#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

namespace {

/// Collective. The window kept, or a new one, all zero on every rank.
mpi::Window* window_for(const mpi::Comm& comm, const void* user, Offset n, Offset slot_bytes) {
  mpi::KeptWindow& kept = comm.kept_window();
  if (kept.window && kept.user == user && kept.unit_bytes >= slot_bytes) return kept.window.get();
  kept = {};  // the old one goes first
  kept = {std::make_unique<mpi::Window>(comm, n * slot_bytes), user, slot_bytes};
  std::ranges::fill(kept.window->memory(), std::byte{0});
  kept.window->sync();
  const mpi::CollectiveCall call(comm);
  mpi::check(MPI_Barrier(comm.get()), "MPI_Barrier");
  return kept.window.get();
}

}  // namespace

Slots::Slots(const Channel& channel, const void* user, Offset n, Offset message_bytes)
    : channel_(channel),
      n_(n),
      message_bytes_(message_bytes),
      window_(window_for(channel.comm, user, n, message_bytes + 1)) {}

Slots::~Slots() {
  if (!channel_.keep_window) channel_.comm.kept_window() = {};
}

void Slots::put(std::span<const std::byte> slots, int rank, Offset slot) {
  auto at = static_cast<MPI_Aint>(slot * slot_bytes());
  while (!slots.empty()) {
    const auto piece = std::min(slots.size(), static_cast<std::size_t>(channel_.piece_bytes));
    mpi::check(MPI_Put(slots.data(), static_cast<int>(piece), MPI_BYTE, rank, at,
                       static_cast<int>(piece), MPI_BYTE, window_->get()),
               "MPI_Put");
    channel_.comm.count_message(rank, static_cast<std::int64_t>(piece));
    slots = slots.subspan(piece);
    at += static_cast<MPI_Aint>(piece);
  }
}

void Slots::close() {
  const mpi::CollectiveCall call(channel_.comm);
  mpi::check(MPI_Win_flush_all(window_->get()), "MPI_Win_flush_all");
  mpi::check(MPI_Barrier(channel_.comm.get()), "MPI_Barrier");
  window_->sync();
}

void Slots::empty(const std::function<void(Offset, std::span<const std::byte>)>& visit) {
  const auto length = static_cast<std::size_t>(slot_bytes());
  for (Offset k = 0; k < n_; ++k) {
    const auto slot = window_->memory().subspan(static_cast<std::size_t>(k) * length, length);
    if (slot.back() == std::byte{0}) continue;
    visit(k, slot.first(length - 1));
    std::ranges::fill(slot, std::byte{0});
  }
  window_->sync();  // before others, who meet this rank in the next call, put again
}

}  // namespace nodewise::comm::sdde
