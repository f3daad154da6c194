// Sparse dynamic data exchange: every rank knows whom it sends to, nobody knows who sends to it.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

/// Messages of varying length: number i goes to, or came from, ranks[i] and holds
/// data[offsets[i] .. offsets[i + 1]). A message may be empty; it arrives all the same.
template <class T>
struct Messages {
  std::vector<int> ranks;
  std::vector<Offset> offsets = {0};
  std::vector<T> data;

  std::size_t size() const { return ranks.size(); }
  std::span<const T> message(std::size_t i) const {
    return std::span(data).subspan(static_cast<std::size_t>(offsets[i]),
                                   static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

namespace detail {
Messages<std::byte> exchange_bytes(const mpi::Comm& comm, std::span<const int> ranks,
                                   std::span<const Offset> offsets, std::span<const std::byte> data,
                                   std::size_t item_bytes);
}  // namespace detail

/// Collective. Delivers `sends` (each destination at most once, this rank allowed) and returns what
/// arrived here, ordered by source rank. One synchronous message per send plus a nonblocking
/// barrier; nothing of size P. Throws on the calling rank where one message holds 2^31 items or
/// more.
/// Source: Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data
/// exchange", 2010, algorithm 2 (NBX).
template <class T>
Messages<T> exchange_sparse(const mpi::Comm& comm, const Messages<T>& sends) {
  static_assert(std::is_trivially_copyable_v<T>);
  Messages<std::byte> bytes = detail::exchange_bytes(
      comm, sends.ranks, sends.offsets, std::as_bytes(std::span(sends.data)), sizeof(T));
  Messages<T> received;
  received.ranks = std::move(bytes.ranks);
  received.offsets = std::move(bytes.offsets);
  received.data.resize(bytes.data.size() / sizeof(T));
  std::copy(bytes.data.begin(), bytes.data.end(),
            std::as_writable_bytes(std::span(received.data)).begin());
  return received;
}

/// Local. Sorts (rank, item) pairs into messages, one per distinct rank, items in the given order.
template <class T>
Messages<T> group_by_rank(std::span<const int> rank_of_item, std::span<const T> items, int n_ranks);

}  // namespace nodewise::comm

#include "nodewise/comm/discovery_impl.hpp"
