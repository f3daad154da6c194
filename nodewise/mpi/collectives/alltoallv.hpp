// Alltoallv by the algorithm that the communicator's settings name.
#pragma once

#include <optional>
#include <span>

#include <mpi.h>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi::collectives {

/// Local. The longest block, in bytes and on average over all pairs of ranks, with which
/// `automatic` uses the node-aware algorithm; 0: with none. It grows with the messages between
/// nodes that a rank is spared, of which fifteen are worth the two steps on the node, to 1 KiB
/// (docs/collectives.md).
Offset automatic_alltoallv_bytes(const Topology& topology);

/// One side of an alltoallv: counts[r] elements for, or from, rank r at element starts[r].
struct Side {
  std::span<const Offset> counts;
  std::span<const Offset> starts;
  MPI_Datatype type;
};

/// Collective. Every rank sends a block to every rank; with send == MPI_IN_PLACE the blocks of
/// `receive` are replaced by what arrives in their place. Any datatypes and any counts, zero
/// included; 64-bit throughout, except by MPI's own algorithm. In the node-aware algorithm each
/// pair of nodes has one rank on either side (PairMap). The ranks of a node bring it their data for
/// the other node, the data of the pair crosses at once, and it is spread there. Data for the same
/// node goes straight. Messages: one between nodes for each pair, direction and part that has data;
/// on the node at most three to each other rank, and one with their lengths; and two small
/// reductions for checks. By `pairwise` and `spread_out` a block goes straight; they and MPI's own
/// algorithm take one reduction for checks. `automatic` also
/// takes the node-aware algorithm where counts do not fit MPI's. `algorithm`, the same on every
/// rank, replaces the communicator's setting. Throws invalid_argument on every rank alike where an
/// argument is wrong or where sends and receives do not match, and index_overflow where MPI's own
/// algorithm is set and cannot count so far. Source: Bienz, "Improving sparse solvers with
/// locality-aware data movement" (slides), which name the idea; the mapping is that of the route
/// three_step.
void alltoallv(const Comm& comm, const void* send, const Side& sends, void* receive,
               const Side& receives, const std::optional<Choice<AlltoallvMethod>>& algorithm = {});

}  // namespace nodewise::mpi::collectives
