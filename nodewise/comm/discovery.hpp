// The sparse dynamic data exchange as the library itself uses it.
#pragma once

#include <span>

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

/// Local. Sorts (rank, item) pairs into messages, one per distinct rank, items in the given order.
template <class T>
Messages<T> group_by_rank(std::span<const int> rank_of_item, std::span<const T> items, int n_ranks);

}  // namespace nodewise::comm

#include "nodewise/comm/discovery_impl.hpp"
