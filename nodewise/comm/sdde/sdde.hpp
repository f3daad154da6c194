// Sparse dynamic data exchange: every rank knows whom it sends to, nobody knows who sends to it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>

#include "nodewise/comm/messages.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

struct SparseOptions {
  /// Without one, the setting of the communicator.
  std::optional<mpi::SparseExchange> algorithm = std::nullopt;
  std::optional<mpi::Region> region = std::nullopt;  ///< likewise
  /// Longer messages are cut, so that MPI's counts never overflow; 1 to 2^30.
  Offset max_message_bytes = Offset{1} << 30;
  /// How many messages will come to this rank, its own among them: given by all ranks or by none.
  /// Then no algorithm that sends straight finds it out again. A wrong number is an error.
  std::optional<Offset> n_receives = std::nullopt;
  /// One-sided algorithms make a window at each call; with this they leave it to the next one, and
  /// then the communicator must come to its end on all ranks together.
  bool keep_window = false;
};

/// Collective. Message i, data[offsets[i] .. offsets[i + 1]), goes to rank destinations[i]: each at
/// most once, in any order, this rank allowed. offsets has one element more than destinations and
/// begins with 0. Returns what arrived here, ordered by source; empty messages arrive too.
/// `options` must be the same on every rank, T is any trivially copyable type.
///
/// Calls may follow each other at once, with any algorithms: their messages cannot mix. Costs in
/// messages: docs/sparse-exchange.md. Memory beyond what is sent and received: a few numbers a
/// message; `personalized` and `locality_personalized` one 64-bit number a rank of the
/// communicator during the call.
///
/// Throws the same Error on every rank: invalid_argument for a destination that is outside the
/// communicator or named twice, offsets that do not describe the data, or the algorithm rma;
/// out_of_memory.
template <class T>
Messages<T> alltoallv_crs(const mpi::Comm& comm, std::span<const int> destinations,
                          std::span<const Offset> offsets, std::span<const T> data,
                          const SparseOptions& options = {});

/// Collective. The same for messages of `count` items each, the same number on every rank: message
/// i is data[i * count .. (i + 1) * count). `rma` holds P * count items during the call. Throws as
/// the other, and invalid_argument where ranks differ in count.
template <class T>
EqualMessages<T> alltoall_crs(const mpi::Comm& comm, std::span<const int> destinations,
                              Offset count, std::span<const T> data,
                              const SparseOptions& options = {});

namespace detail {

/// Messages as bytes: number i is the items offsets[i] .. offsets[i + 1] of item_bytes each.
struct SparseSends {
  std::span<const int> ranks;
  std::span<const Offset> offsets;
  std::span<const std::byte> data;
  std::size_t item_bytes = 1;
  std::optional<Offset> equal_count = std::nullopt;  // that every message has, if so
};

/// The place of arrived messages: `ranks` and `offsets` (in items) are filled, then `room(n)` is
/// asked for the place of n items.
struct SparseReceives {
  std::vector<int>& ranks;
  std::vector<Offset>& offsets;
  std::function<std::byte*(std::size_t)> room;
};

/// Numbers that ride along with an exchange, where one of its steps can take them: then they are
/// summed over the ranks. As many on every rank, known when the messages are.
struct Riders {
  static constexpr std::size_t most = 4;
  std::span<std::int64_t> sums;
  bool are_summed = false;
  /// Whether so little was sent that memory for what is made of it is taken to be there, as the
  /// exchange itself does.
  bool is_small = false;
};

/// Collective. `prepare` makes the messages; what it throws on one rank, all throw.
void exchange_bytes(const mpi::Comm& comm, const std::function<SparseSends()>& prepare,
                    const SparseReceives& receives, const SparseOptions& options,
                    Riders* riders = nullptr);

/// Local. i * count for i = 0 .. n; throws invalid_argument unless they describe n_items.
std::vector<Offset> equal_offsets(std::size_t n, Offset count, std::size_t n_items);

}  // namespace detail

template <class T>
Messages<T> alltoallv_crs(const mpi::Comm& comm, std::span<const int> destinations,
                          std::span<const Offset> offsets, std::span<const T> data,
                          const SparseOptions& options) {
  static_assert(std::is_trivially_copyable_v<T>);
  Messages<T> got;
  const auto room = [&](std::size_t n) {
    got.data.resize(n);
    return reinterpret_cast<std::byte*>(got.data.data());
  };
  const auto prepare = [&] {
    return detail::SparseSends{destinations, offsets, std::as_bytes(data), sizeof(T)};
  };
  detail::exchange_bytes(comm, prepare, {got.ranks, got.offsets, room}, options);
  return got;
}

template <class T>
EqualMessages<T> alltoall_crs(const mpi::Comm& comm, std::span<const int> destinations,
                              Offset count, std::span<const T> data, const SparseOptions& options) {
  static_assert(std::is_trivially_copyable_v<T>);
  EqualMessages<T> got;
  got.count = count;
  std::vector<Offset> sent_offsets;
  std::vector<Offset> got_offsets;
  const auto room = [&](std::size_t n) {
    got.data.resize(n);
    return reinterpret_cast<std::byte*>(got.data.data());
  };
  const auto prepare = [&] {
    sent_offsets = detail::equal_offsets(destinations.size(), count, data.size());
    return detail::SparseSends{destinations, sent_offsets, std::as_bytes(data), sizeof(T), count};
  };
  detail::exchange_bytes(comm, prepare, {got.ranks, got_offsets, room}, options);
  return got;
}

}  // namespace nodewise::comm
