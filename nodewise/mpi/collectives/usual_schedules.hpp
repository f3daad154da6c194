// The schedules of the usual algorithms, which do not look at nodes, or let one rank act for each.
#pragma once

#include "nodewise/mpi/collectives/schedule.hpp"

namespace nodewise::mpi::collectives {

/// Local. An allreduce by recursive doubling. Of the ranks beyond a power of two each gives its
/// vector to a neighbour first, which takes part for both, and gets the result last. Slots say
/// nothing of whose contributions they hold.
Schedule doubling_schedule(const Topology& topology, int rank);

/// Local. An allreduce by the first rank of every node: up a binomial tree on the node, recursive
/// doubling among the first ranks, and down the tree. Slots likewise.
Schedule node_leader_schedule(const Topology& topology, int rank);

/// Local. An allgather round a ring of ranks: P - 1 rounds of a block each, of O(P) memory.
Schedule ring_schedule(const Topology& topology, int rank);

/// Local. An allgather in ceil(log2 P) rounds, each of twice the blocks of the one before.
Schedule bruck_schedule(const Topology& topology, int rank);

}  // namespace nodewise::mpi::collectives
