// Slots for messages of one size, which other ranks put there.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "nodewise/comm/sdde/buffers.hpp"
#include "nodewise/mpi/window.hpp"

namespace nodewise::comm::sdde {

/// The slots of every rank, as many as its algorithm needs. A slot is a message and behind it a
/// byte that says that there is one. They lie in a window. Where it is kept, the communicator has
/// it until another algorithm, or longer messages, need one: so calls after the first one make
/// none.
class Slots {
 public:
  /// Collective; a window made where that kept does not do. `n` slots here, each of `message_bytes`
  /// and the flag, the same on every rank. `user` stands for the algorithm and its arrangement.
  Slots(const Channel& channel, const void* user, Offset n, Offset message_bytes);
  ~Slots();  ///< collective where the window is not kept
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  Offset slot_bytes() const { return message_bytes_ + 1; }
  /// Local. Puts successive slots, flags among them, to those of `rank` from number `slot` on.
  /// Since the last close() all ranks must have met. `slots` must stay until close().
  void put(std::span<const std::byte> slots, int rank, Offset slot);
  /// Collective; one barrier. Nothing is under way any more.
  void close();
  /// Local. Calls visit(slot, message) for each message here, and empties the slots.
  void empty(const std::function<void(Offset, std::span<const std::byte>)>& visit);

 private:
  Channel channel_;
  Offset n_;
  Offset message_bytes_;
  mpi::Window* window_;
};

}  // namespace nodewise::comm::sdde
