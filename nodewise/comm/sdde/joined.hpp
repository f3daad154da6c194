// Messages that travel together: between regions as one message a rank and region, and then within
// the region.
#pragma once

#include <span>
#include <vector>

#include "nodewise/comm/sdde/algorithms.hpp"

namespace nodewise::comm::sdde {

/// Joined messages, to each rank one, in ascending order.
struct Aggregates {
  std::vector<int> ranks;
  std::vector<Offset> offsets = {0};
  Array<std::byte> data;

  detail::SparseSends sends() const { return {ranks, offsets, data}; }
};

/// One rank's part in bringing messages from region to region.
class Carrier {
 public:
  /// A message to be sent within a joined one.
  struct Record {
    int to;  ///< who receives the joined message
    JoinedHeader header;
    std::span<const std::byte> data;
  };

  explicit Carrier(const Channel& channel);

  /// Local. Splits this rank's messages into those that leave the region and those that do not.
  void load(const detail::SparseSends& sends);
  /// Local. Takes over what ranks of other regions sent to this one through this rank.
  void unload(const ReceiveBuffers& arrived);
  /// Local. What leaves the region, to the rank there that passes it on.
  std::span<const Record> leaving() const { return leaving_; }
  Aggregates joined_leaving();
  /// Local. What stays in the region; ranks are places there.
  Aggregates joined_staying();

 private:
  void pass_on(int source, const JoinedHeader& header, std::span<const std::byte> data);

  int me_;
  const mpi::Topology& regions_;
  int region_;
  std::vector<Record> leaving_;
  std::vector<Record> staying_;
};

/// The two steps of a locality-aware algorithm.
struct JoinedSteps {
  /// Collective. Brings what leaves the regions to the ranks that pass it on, in joined messages,
  /// with the call's termination. A rank that failed takes part without messages.
  void (*between)(Call& call, Carrier& carrier, ReceiveBuffers& arrived);
  /// Collective on the region, whose channel it is.
  void (*within)(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox);
};

/// Collective. Algorithms 4 and 5 of Geyko et al. 2024, for regions of any sizes and any placement
/// of ranks.
void exchange_joined(Call& call, const JoinedSteps& steps);

/// The first steps: by algorithm 1 or, where counts told how much comes, without it; by
/// algorithm 2.
void between_personalized(Call& call, Carrier& carrier, ReceiveBuffers& arrived);
void between_nonblocking(Call& call, Carrier& carrier, ReceiveBuffers& arrived);

}  // namespace nodewise::comm::sdde
