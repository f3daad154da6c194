// The node-aware alltoallv of bytes.
#pragma once

#include <memory>

#include "nodewise/mpi/collectives/transfer.hpp"

namespace nodewise::mpi::collectives {

/// Local. `to`: what this rank sends, by rank; `from`: what it receives.
std::unique_ptr<BlockExchange> make_node_aware(const Comm& comm, const Blocks& to,
                                               const Blocks& from);

}  // namespace nodewise::mpi::collectives
