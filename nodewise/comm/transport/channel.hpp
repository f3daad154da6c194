// The interface of a transport: it carries the messages of one stage in one direction, again and
// again.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/comm/transport/transport.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm::transport {

/// A message's place in the array it is sent from, or received in.
struct Part {
  Offset begin;
  Offset bytes;

  friend bool operator==(const Part&, const Part&) = default;
};

/// Local. `parts` becomes the parts that hold the entries offsets[i] .. offsets[i + 1], each of so
/// many bytes.
inline void set_parts(std::span<const LocalIndex> offsets, Offset bytes, std::vector<Part>& parts) {
  parts.clear();
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    parts.push_back({offsets[i] * bytes, (offsets[i + 1] - offsets[i]) * bytes});
  }
}

/// The partners of a channel, for its life: this rank sends to send_ranks, in the order given, and
/// receives from recv_ranks. Sends and receives of two ranks must match.
struct Neighbours {
  std::vector<int> send_ranks, recv_ranks;
};

/// One run of a channel. Sends and receives are those of its neighbours, in their order; spans and
/// data must last until finish().
struct Transfer {
  std::span<const Part> sends, receives;
  const std::byte* send_data = nullptr;
  std::byte* recv_data = nullptr;
  /// Bytes of an entry, the same on every rank, where every part is of a whole number of entries
  /// that stays the same for the life of the channel; 0 where lengths vary from run to run.
  std::size_t item_bytes = 0;
};

/// One run at a time: start(), then finish(). Both are collective over the ranks of the channel's
/// communicator in the sense that all run the same channels in the same order.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual void start(const Transfer& transfer) = 0;
  virtual void finish() = 0;
};

/// The arguments of all channels.
struct Setting {
  std::shared_ptr<const mpi::Comm> comm;
  Offset max_message_bytes;  ///< longer messages are cut, so that MPI's counts never overflow
};

std::unique_ptr<Channel> point_to_point(Setting setting, Neighbours neighbours);
std::unique_ptr<Channel> persistent(Setting setting, Neighbours neighbours);
std::unique_ptr<Channel> neighborhood(Setting setting, Neighbours neighbours);
std::unique_ptr<Channel> persistent_neighborhood(Setting setting, Neighbours neighbours);
std::unique_ptr<Channel> rma(Setting setting, Neighbours neighbours);
/// All neighbours must be on this rank's node.
std::unique_ptr<Channel> shared_memory(Setting setting, Neighbours neighbours);

}  // namespace nodewise::comm::transport
