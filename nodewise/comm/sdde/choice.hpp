// Which algorithm of the sparse dynamic data exchange a communicator takes by itself, and why.
#pragma once

#include <string>

#include "nodewise/comm/sdde/sdde.hpp"

namespace nodewise::comm {

/// What the choice depends on beside the placement of the ranks: the most of any rank.
struct SparseLoad {
  Offset messages = 0;           ///< to other ranks
  Offset messages_off_node = 0;  ///< to ranks of other nodes
  Offset nodes = 0;              ///< other nodes with at least one destination
  Offset bytes_off_node = 0;
};

struct SparseChoice {
  mpi::SparseExchange algorithm;  ///< never automatic
  std::string reason;
};

/// Local. Whether the choice depends on the load at all: not where there is one node, or one rank
/// on every node, since no messages can be joined there.
bool choice_needs_load(const mpi::Topology& topology);

/// Local. The rule behind `automatic`; the same on every rank if the load is.
SparseChoice choose_sparse_exchange(const mpi::Topology& topology, const SparseLoad& load);

/// Collective; one allreduce. The greatest load of any rank. `bytes[i]` go to destinations[i].
SparseLoad measure_load(const mpi::Comm& comm, std::span<const int> destinations,
                        std::span<const Offset> bytes);

/// Collective; one allreduce. What an exchange of these messages on `comm` would do, as a text of a
/// few lines: the algorithm, whether it was set or chosen, the load, and the reason.
std::string explain_choice(const mpi::Comm& comm, std::span<const int> destinations,
                           std::span<const Offset> bytes);

}  // namespace nodewise::comm
