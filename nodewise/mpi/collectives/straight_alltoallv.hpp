// Alltoallv by messages that go straight from rank to rank.
#pragma once

#include <memory>

#include "nodewise/mpi/collectives/transfer.hpp"

namespace nodewise::mpi::collectives {

/// Local. P - 1 steps; in step k a rank sends to the k-th behind it and receives from the k-th
/// before it, and waits for both.
std::unique_ptr<BlockExchange> make_pairwise(const Comm& comm, const Blocks& to,
                                             const Blocks& from);

/// Local. The same messages, all under way at once.
std::unique_ptr<BlockExchange> make_spread_out(const Comm& comm, const Blocks& to,
                                               const Blocks& from);

}  // namespace nodewise::mpi::collectives
