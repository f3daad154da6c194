#include "nodewise/comm/sdde/message_count.hpp"

#include <algorithm>

#include "nodewise/base/hash.hpp"

namespace nodewise::comm::sdde {

namespace {

// The numbers that are summed: a few, then two for every rank.
constexpr std::size_t failed_at = 0;
constexpr std::size_t bytes_at = 1;
constexpr std::size_t bytes_leaving_at = 2;
constexpr std::size_t print_at = 3;
constexpr std::size_t print_squared_at = 4;
constexpr std::size_t receives_at = 5;  // prints of all receivers, sent less expected: none
constexpr std::size_t ranks_at = 6;
using Sums = std::array<std::int64_t, ranks_at + 2 * most_ranks_counted + detail::Riders::most>;

/// Pieces from the receiver's region and from others share a number.
constexpr std::int64_t from_region = std::int64_t{1} << 32;
Offset staying_part(std::int64_t pieces) {
  return pieces / from_region;
}
Offset leaving_part(std::int64_t pieces) {
  return pieces % from_region;
}

/// 20 bits, so that the squares of those of all ranks can be added and multiplied by their number.
std::int64_t fingerprint(Offset count) {
  return static_cast<std::int64_t>(hash64(static_cast<std::uint64_t>(count), 0) >> 44);
}

/// Local. Adds a message to rank `to`; its joined bytes go to those of the rank that passes it on.
void count_message(const Channel& channel, int to, Offset bytes, Sums& sums,
                   std::span<Offset> joined_bytes) {
  const mpi::Comm& comm = channel.comm;
  const mpi::Topology& regions = channel.regions();
  const bool stays = regions.same_node(to, comm.rank());
  sums[bytes_at] += bytes;
  if (!stays) sums[bytes_leaving_at] += bytes;
  if (joined_bytes.empty()) return;
  sums[ranks_at + static_cast<std::size_t>(to)] +=
      channel.n_pieces(bytes) * (stays ? from_region : 1);
  if (stays) return;
  const int through = regions.corresponding_rank(comm.rank(), regions.node(to));
  joined_bytes[static_cast<std::size_t>(through)] +=
      static_cast<Offset>(sizeof(JoinedHeader)) + bytes;
}

/// Local. This rank's part of the sums.
Sums count(const Channel& channel, const detail::SparseSends& sends, const Counting& counting,
           MessageCountReduction& counts) {
  const mpi::Comm& comm = channel.comm;
  Sums sums{};
  if (sends.equal_count) sums[print_at] = fingerprint(*sends.equal_count);
  sums[print_squared_at] = sums[print_at] * sums[print_at];
  std::array<Offset, most_ranks_counted> all_joined{};
  const auto p = static_cast<std::size_t>(comm.size());
  const std::span<Offset> joined_bytes = std::span(all_joined).first(counting.by_rank ? p : 0);
  for (std::size_t i = 0; i < sends.ranks.size(); ++i) {
    const int to = sends.ranks[i];
    if (counting.n_receives) sums[receives_at] += fingerprint(to);
    if (to == comm.rank()) continue;
    count_message(channel, to,
                  (sends.offsets[i + 1] - sends.offsets[i]) * static_cast<Offset>(sends.item_bytes),
                  sums, joined_bytes);
  }
  if (counting.n_receives) sums[receives_at] -= *counting.n_receives * fingerprint(comm.rank());
  for (std::size_t r = 0; r < joined_bytes.size(); ++r) {
    if (joined_bytes[r] == 0) continue;
    counts.joined_pieces[r] = channel.n_pieces(joined_bytes[r]);
    sums[ranks_at + p + r] = counts.joined_pieces[r];
  }
  return sums;
}

/// Local. What the numbers of every rank tell: pieces, and joined ones.
void read_ranks(std::span<const std::int64_t> pieces, std::span<const std::int64_t> joined,
                Offset bytes_leaving, std::size_t me, MessageCountReduction& counts) {
  Offset all_leaving = 0;
  for (const std::int64_t n : pieces) {
    const Offset leaving = leaving_part(n);
    all_leaving += leaving;
    counts.load.messages = std::max(counts.load.messages, staying_part(n) + leaving);
    counts.load.messages_leaving = std::max(counts.load.messages_leaving, leaving);
  }
  counts.load.regions = *std::max_element(joined.begin(), joined.end());
  const Offset mean_bytes = bytes_leaving / std::max<Offset>(1, all_leaving);
  counts.load.bytes_leaving = mean_bytes * counts.load.messages_leaving;
  counts.expected = staying_part(pieces[me]) + leaving_part(pieces[me]);
  counts.expected_joined = joined[me];
}

}  // namespace

bool counts_messages_first(const mpi::Topology& regions) {
  return choice_needs_load(regions) && regions.n_ranks() <= most_ranks_counted;
}

MessageCountReduction count_messages(const Channel& channel, const detail::SparseSends& sends,
                                     const Counting& counting) {
  const mpi::Comm& comm = channel.comm;
  const std::size_t p = counting.by_rank ? static_cast<std::size_t>(comm.size()) : 0;
  const std::span<std::int64_t> riders = counting.riders;
  MessageCountReduction counts;
  Sums sums = counting.failed ? Sums{} : count(channel, sends, counting, counts);
  sums[failed_at] = counting.failed ? 1 : 0;
  const std::span<std::int64_t> riding = std::span(sums).subspan(ranks_at + 2 * p, riders.size());
  std::copy_n(riders.begin(), riders.size(), riding.begin());
  mpi::sum_in_place(comm, std::span(sums).first(ranks_at + 2 * p + riders.size()));
  std::copy_n(riding.begin(), riders.size(), riders.begin());

  counts.any_failed = sums[failed_at] > 0;
  // Numbers are equal exactly when their variance is zero.
  counts.counts_differ = comm.size() * sums[print_squared_at] != sums[print_at] * sums[print_at];
  counts.receives_differ = sums[receives_at] != 0;
  counts.bytes = sums[bytes_at];
  if (counting.by_rank) {
    read_ranks(std::span(sums).subspan(ranks_at, p), std::span(sums).subspan(ranks_at + p, p),
               sums[bytes_leaving_at], static_cast<std::size_t>(comm.rank()), counts);
  }
  return counts;
}

}  // namespace nodewise::comm::sdde
