// The sparse dynamic data exchange as the library itself uses it.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include "nodewise/comm/messages.hpp"
#include "nodewise/comm/sdde/sdde.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

/// Collective. alltoallv_crs() with the algorithm of the communicator's settings: delivers `sends`
/// and returns what arrived here, ordered by source rank.
template <class T>
Messages<T> exchange_sparse(const mpi::Comm& comm, const Messages<T>& sends) {
  return alltoallv_crs<T>(comm, sends.ranks, sends.offsets, sends.data);
}

/// Collective. Likewise for the messages that `make()` returns: local work, and what it throws on
/// one rank all throw, without an agreement of its own.
template <std::invocable Make>
std::invoke_result_t<Make&> exchange_sparse(const mpi::Comm& comm, Make&& make,
                                            detail::Riders* riders = nullptr);

/// Local. Sorts (rank, item) pairs into messages, one per distinct rank, items in the given order.
template <class T>
Messages<T> group_by_rank(std::span<const int> rank_of_item, std::span<const T> items, int n_ranks);

}  // namespace nodewise::comm

#include "nodewise/comm/discovery_impl.hpp"
