// One reduction before the messages of a sparse exchange, in which every rank learns how many come.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "nodewise/comm/sdde/buffers.hpp"
#include "nodewise/comm/sdde/choice.hpp"

namespace nodewise::comm::sdde {

/// On more ranks a vector of two numbers a rank is longer than what is fast to reduce.
constexpr int most_ranks_counted = 255;

/// Local. Whether `automatic` counts: where there are nodes to tell apart and not too many ranks.
bool counts_messages_first(const mpi::Topology& topology);

/// Before each message inside a joined one: on the way to a node the rank it is for, since the
/// sender is known; on the node the rank it is from. 64 bits, whatever the length.
struct JoinedHeader {
  std::int64_t rank;
  std::int64_t bytes;
};

/// The message counts that all ranks know after a reduction of two numbers a rank. It is one wait
/// for the network; without it acknowledgements and a final reduction must tell a rank that nothing
/// more will come.
struct MessageCountReduction {
  bool any_failed = false;
  bool counts_differ = false;    ///< of messages of one size; unnoticed once in 10^6 times
  bool receives_differ = false;  ///< what a rank expects and what is sent to it; likewise
  Offset bytes = 0;              ///< sent by all ranks together
  SparseLoad load;               ///< in pieces of the mean size, counted where they arrive
  Offset expected = 0;           ///< pieces for this rank
  Offset expected_joined = 0;    ///< pieces for this rank where messages to a node are joined
  /// Joined pieces from this rank to each.
  std::array<Offset, most_ranks_counted> joined_pieces{};
};

/// How messages are counted.
struct Counting {
  bool failed = false;  ///< a rank that did sends nothing
  /// At most detail::Riders::most numbers, which become their sums over the ranks.
  std::span<std::int64_t> riders = {};
  /// What this rank expects, if it knows: then it is compared.
  std::optional<Offset> n_receives = std::nullopt;
  /// Otherwise load, expected and joined pieces are left out, and two numbers for every rank.
  bool by_rank = true;
};

/// Collective; one allreduce, and no memory.
MessageCountReduction count_messages(const Channel& channel, const detail::SparseSends& sends,
                                     const Counting& counting);

}  // namespace nodewise::comm::sdde
