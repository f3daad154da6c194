// Which algorithm of the sparse dynamic data exchange a communicator takes by itself, and why.
#pragma once

#include <string>

#include "nodewise/comm/sdde/sdde.hpp"

namespace nodewise::comm {

/// What the choice depends on beside the placement of the ranks: the most of any rank. Regions are
/// nodes, or the domains of nodes (SparseOptions::region).
struct SparseLoad {
  Offset messages = 0;          ///< to other ranks
  Offset messages_leaving = 0;  ///< to ranks of other regions
  Offset regions = 0;           ///< other regions with at least one destination
  Offset bytes_leaving = 0;
};

struct SparseChoice {
  mpi::SparseExchange algorithm;  ///< never automatic
  std::string reason;
};

/// Local. Whether the choice depends on the load at all: not where there is one region, or one rank
/// in every region, since no messages can be joined there.
bool choice_needs_load(const mpi::Topology& regions);

/// Local. The rule behind `automatic`: messages are joined where the messages that this saves the
/// busiest rank cost more than the step in the region and the copies do. The same on every rank if
/// the load and the costs are. `kind` is what the reason calls a region.
SparseChoice choose_sparse_exchange(const mpi::Topology& regions, const SparseLoad& load,
                                    const mpi::SparseCosts& costs,
                                    mpi::Region kind = mpi::Region::node);

/// Local. What `rank` brings: bytes[i] go to destinations[i], itself left out.
SparseLoad load_of_rank(const mpi::Topology& regions, int rank, std::span<const int> destinations,
                        std::span<const Offset> bytes);

/// Collective; one allreduce. The greatest load of any rank. `bytes[i]` go to destinations[i].
SparseLoad measure_load(const mpi::Comm& comm, mpi::Region region,
                        std::span<const int> destinations, std::span<const Offset> bytes);

/// Collective; one allreduce. What an exchange of these messages on `comm` would do, as a text of a
/// few lines: the algorithm, whether it was set or chosen, the load, and the reason.
std::string explain_choice(const mpi::Comm& comm, std::span<const int> destinations,
                           std::span<const Offset> bytes);

}  // namespace nodewise::comm
