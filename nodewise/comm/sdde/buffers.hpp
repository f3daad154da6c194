// Sending and receiving the messages of one exchange, in pieces where they are long.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/base/error.hpp"
#include "nodewise/comm/sdde/sdde.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm::sdde {

/// The communicator, tag, cut and regions of one exchange. A message of n bytes travels as pieces
/// of piece_bytes and a last one that is shorter, if need be empty: so a receiver knows when a
/// message is complete without having been told its length.
struct Channel {
  const mpi::Comm& comm;
  int tag;
  Offset piece_bytes;
  mpi::Region region = mpi::Region::node;
  bool keep_window = false;

  /// The regions among which messages are joined.
  const mpi::Topology& regions() const { return comm.regions(region); }
  Offset n_pieces(Offset bytes) const { return bytes / piece_bytes + 1; }
};

/// The messages that arrived.
class ReceiveBuffers {
 public:
  struct Message {
    int source = -1;
    bool complete = false;
    Array<std::byte> data;
  };

  /// Receives the piece that a probe has found. Where memory runs out it is received nowhere, and
  /// failure() tells: the protocol must go on, or other ranks would wait for this one.
  void receive(const Channel& channel, const MPI_Status& found);
  /// Receives one piece if one is there.
  bool receive_any(const Channel& channel);
  /// Receives the whole message of each of `sources`, ascending, other than this rank; all are
  /// under way at once, and go into memory as with receive().
  void receive_from(const Channel& channel, std::span<const int> sources);
  /// Local. Takes a message that needs no sending.
  void take(int source, std::span<const std::byte> data);

  /// The messages of which the last piece came, whether or not there was memory for them.
  Offset n_ended() const { return n_ended_; }
  std::vector<Message>& messages() { return messages_; }
  const std::vector<Message>& messages() const { return messages_; }
  /// Local. Hands the messages over, ordered by source.
  void deliver(std::size_t item_bytes, const detail::SparseReceives& receives);
  const std::optional<Error>& failure() const { return failure_; }

 private:
  std::byte* make_room(int source, int bytes, bool complete);
  /// Returns whether the piece is the last of its message.
  bool begin_to_receive(const Channel& channel, const MPI_Status& found, MPI_Request& request);

  std::vector<Message> messages_;
  std::vector<std::size_t> incomplete_;  // of messages_
  Offset n_ended_ = 0;
  std::optional<Error> failure_;
};

/// The sends of one rank. Those to itself are not sent, but taken by its inbox.
class SendRequests {
 public:
  /// Local. Keeps the spans. `sends` must be valid; ranks are those of the channel's communicator.
  SendRequests(const Channel& channel, const detail::SparseSends& sends);

  /// Begins all sends, first that to the rank after this one: in ascending order everybody would
  /// begin with the same receiver. Synchronous ones complete when they are received.
  void post(bool synchronous);
  void take_own(ReceiveBuffers& inbox) const;
  bool done();  ///< gives MPI the chance to proceed
  void wait();

  /// Whether some go to other nodes.
  bool cross() const;

  /// Adds the pieces to each rank to per_rank[rank].
  void count_pieces(std::span<std::int64_t> per_rank) const;

 private:
  std::span<const std::byte> message(std::size_t i) const;
  void post_message(std::size_t i, bool synchronous);

  Channel channel_;
  detail::SparseSends sends_;
  std::vector<MPI_Request> requests_;
};

/// Local. Counts a step in which these messages were sent and those arrived, as one wait or with
/// `acknowledged` as two, where a message crosses the network.
void count_wait(const Channel& channel, const SendRequests& outbox, const ReceiveBuffers& inbox,
                bool acknowledged = false);

}  // namespace nodewise::comm::sdde
