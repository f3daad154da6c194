// Messages of data on devices, of which both sides know the lengths: alltoall and alltoallv, made
// once and run again and again; and messages that nobody knows yet.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/comm/sdde/sdde.hpp"
#include "nodewise/device/buffer.hpp"
#include "nodewise/offload/leaving.hpp"

namespace nodewise::offload {

/// What a rank sends and receives. Message i of those that it sends is the items send_offsets[i] ..
/// send_offsets[i + 1), and goes to send_ranks[i]; likewise what it receives. Ranks ascend, and may
/// name this one. A message may be empty.
struct MessageLengths {
  std::span<const int> send_ranks;
  std::span<const Offset> send_offsets;
  std::span<const int> recv_ranks;
  std::span<const Offset> recv_offsets;
};

/// An exchange of messages of such lengths, in one of the ways in which data leave devices. What is
/// sent to this rank itself is copied on the device.
template <class Space>
class KnownMessages {
 public:
  /// Collective. Sends and receives of two ranks must match; items of item_bytes, the same on every
  /// rank. Costs what the way does where it plans anew. Throws the same Error on every rank:
  /// invalid_argument where offsets or ranks are not so, index_overflow where a rank has 2^31 items
  /// or more.
  KnownMessages(Card<Space>& card, std::shared_ptr<const mpi::Comm> comm, const Leaving& leaving,
                const MessageLengths& lengths, std::size_t item_bytes,
                const comm::Transport& transport = "point_to_point");

  /// Collective. Arrays of the space: of send_offsets.back() and recv_offsets.back() items. Costs
  /// one message for each pair of ranks that has items, and what the way adds. What fails on this
  /// rank is left in the card's LocalWork.
  void run(const std::byte* send, std::byte* receive);
  std::size_t bytes() const;

 private:
  struct Own {  // what this rank sends to itself, in bytes
    std::size_t from = 0, to = 0, bytes = 0;
  };
  void find_own(const MessageLengths& lengths, int rank);

  Card<Space>& card_;
  std::shared_ptr<const mpi::Comm> comm_;
  std::size_t item_bytes_;
  Own own_;
  std::size_t received_bytes_ = 0;
  std::unique_ptr<Carrier<Space>> carrier_;    // null: one rank
  device::Buffer<std::byte, Space> received_;  // where own items lie between those of others
};

/// Messages that arrived, on the device: number i came from ranks[i], data[offsets[i] .. offsets[i
/// + 1]).
template <class T, class Space>
struct DeviceMessages {
  std::vector<int> ranks;
  std::vector<Offset> offsets = {0};
  device::Buffer<T, Space> data;
};

/// Collective. comm::alltoallv_crs() of data on devices: `data` is an array of the space with
/// offsets.back() items. Where a core copies to the host, the sparse exchange goes on there; else
/// it brings the lengths, and the data follow in known messages. Throws the same Error on every
/// rank, as comm::alltoallv_crs() does.
template <class T, class Space>
DeviceMessages<T, Space> alltoallv_crs(Card<Space>& card,
                                       const std::shared_ptr<const mpi::Comm>& comm,
                                       const Leaving& leaving, std::span<const int> destinations,
                                       std::span<const Offset> offsets, const T* data,
                                       const comm::SparseOptions& options = {});

}  // namespace nodewise::offload
