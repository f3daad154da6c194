#include "nodewise/comm/sdde/message_count.hpp"

#include <algorithm>

#include "nodewise/base/hash.hpp"

namespace nodewise::comm::sdde {

namespace {

// The numbers that are summed: a few, then two for every rank.
constexpr std::size_t failed_at = 0;
constexpr std::size_t bytes_at = 1;
constexpr std::size_t bytes_off_node_at = 2;
constexpr std::size_t print_at = 3;
constexpr std::size_t print_squared_at = 4;
constexpr std::size_t ranks_at = 5;
using Sums = std::array<std::int64_t, ranks_at + 2 * most_ranks_counted + detail::Riders::most>;

/// Pieces from the receiver's node and from others share a number.
constexpr std::int64_t from_node = std::int64_t{1} << 32;
Offset on_node_part(std::int64_t pieces) {
  return pieces / from_node;
}
Offset off_node_part(std::int64_t pieces) {
  return pieces % from_node;
}

/// 20 bits, so that the squares of those of all ranks can be added and multiplied by their number.
std::int64_t fingerprint(Offset count) {
  return static_cast<std::int64_t>(hash64(static_cast<std::uint64_t>(count), 0) >> 44);
}

/// Local. This rank's part of the sums, and its joined bytes to each rank.
Sums count(const Channel& channel, const detail::SparseSends& sends,
           MessageCountReduction& counts) {
  const mpi::Comm& comm = channel.comm;
  const mpi::Topology& topology = comm.topology();
  Sums sums{};
  if (sends.equal_count) sums[print_at] = fingerprint(*sends.equal_count);
  sums[print_squared_at] = sums[print_at] * sums[print_at];
  std::array<Offset, most_ranks_counted> joined_bytes{};
  for (std::size_t i = 0; i < sends.ranks.size(); ++i) {
    const int to = sends.ranks[i];
    if (to == comm.rank()) continue;
    const Offset bytes =
        (sends.offsets[i + 1] - sends.offsets[i]) * static_cast<Offset>(sends.item_bytes);
    const bool stays = topology.same_node(to, comm.rank());
    sums[bytes_at] += bytes;
    sums[ranks_at + static_cast<std::size_t>(to)] +=
        channel.n_pieces(bytes) * (stays ? from_node : 1);
    if (stays) continue;
    sums[bytes_off_node_at] += bytes;
    const auto through =
        static_cast<std::size_t>(topology.corresponding_rank(comm.rank(), topology.node(to)));
    joined_bytes[through] += static_cast<Offset>(sizeof(JoinedHeader)) + bytes;
  }
  const auto p = static_cast<std::size_t>(comm.size());
  for (std::size_t r = 0; r < p; ++r) {
    if (joined_bytes[r] == 0) continue;
    counts.joined_pieces[r] = channel.n_pieces(joined_bytes[r]);
    sums[ranks_at + p + r] = counts.joined_pieces[r];
  }
  return sums;
}

}  // namespace

bool counts_messages_first(const mpi::Topology& topology) {
  return choice_needs_load(topology) && topology.n_ranks() <= most_ranks_counted;
}

MessageCountReduction count_messages(const Channel& channel, const detail::SparseSends& sends,
                                     bool failed, std::span<std::int64_t> riders) {
  const mpi::Comm& comm = channel.comm;
  const auto p = static_cast<std::size_t>(comm.size());
  MessageCountReduction counts;
  Sums sums = failed ? Sums{} : count(channel, sends, counts);
  sums[failed_at] = failed ? 1 : 0;
  const std::span<std::int64_t> riding = std::span(sums).subspan(ranks_at + 2 * p, riders.size());
  std::copy_n(riders.begin(), riders.size(), riding.begin());
  mpi::sum_in_place(comm, std::span(sums).first(ranks_at + 2 * p + riders.size()));
  std::copy_n(riding.begin(), riders.size(), riders.begin());

  const std::span<const std::int64_t> pieces = std::span(sums).subspan(ranks_at, p);
  const std::span<const std::int64_t> joined = std::span(sums).subspan(ranks_at + p, p);
  Offset all_off_node = 0;
  for (const std::int64_t n : pieces) {
    const Offset off_node = off_node_part(n);
    all_off_node += off_node;
    counts.load.messages = std::max(counts.load.messages, on_node_part(n) + off_node);
    counts.load.messages_off_node = std::max(counts.load.messages_off_node, off_node);
  }
  counts.load.nodes = *std::max_element(joined.begin(), joined.end());
  const Offset mean_bytes = sums[bytes_off_node_at] / std::max<Offset>(1, all_off_node);
  counts.load.bytes_off_node = mean_bytes * counts.load.messages_off_node;
  counts.any_failed = sums[failed_at] > 0;
  // Numbers are equal exactly when their variance is zero.
  counts.counts_differ = comm.size() * sums[print_squared_at] != sums[print_at] * sums[print_at];
  counts.bytes = sums[bytes_at];
  const auto me = static_cast<std::size_t>(comm.rank());
  counts.expected = on_node_part(pieces[me]) + off_node_part(pieces[me]);
  counts.expected_joined = joined[me];
  return counts;
}

}  // namespace nodewise::comm::sdde
