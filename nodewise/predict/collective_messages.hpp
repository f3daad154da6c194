// The messages of collectives on a machine that is not at hand.
#pragma once

#include <cstdint>
#include <span>

#include "nodewise/model/event_simulation.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::predict {

/// Local. An allreduce of so many bytes by recursive doubling, which is what MPI libraries do with
/// short vectors: ranks beyond a power of two send to a partner first, and hear from it last.
model::MessageStages recursive_doubling(int n_ranks, std::int64_t bytes);

/// Local. An allreduce by recursive halving and doubling, which is what MPI libraries do with
/// longer vectors: halves, quarters ... are added up by fewer and fewer ranks each, and then
/// gathered. Ranks beyond a power of two as above; pieces are rounded up to whole bytes.
model::MessageStages halving_allreduce(int n_ranks, std::int64_t bytes);

/// Local. An allgather by Bruck's algorithm: ceil(log2 P) stages, each with twice the data.
/// bytes[r] are those of rank r. Empty messages are sent.
model::MessageStages bruck_allgather(std::span<const std::int64_t> bytes);

/// Local. An allgather round a ring: P - 1 stages, in each of which a rank passes on the block that
/// it got in the one before. P^2 messages.
model::MessageStages ring_allgather(std::span<const std::int64_t> bytes);

/// Local. An allreduce by the first rank of every node (MPICH's for ranks on nodes): up a binomial
/// tree on each node, recursive doubling among the first ranks, and down the trees.
model::MessageStages node_leader_allreduce(const mpi::Topology& topology, std::int64_t bytes);

/// Local. An alltoall of `bytes` from every rank to every rank, all of them under way at once: one
/// stage of P - 1 messages, the first to the next rank.
model::MessageStages spread_out_alltoall(int n_ranks, std::int64_t bytes);
/// Local. The same in P - 1 stages, each rank with another partner in each.
model::MessageStages pairwise_alltoall(int n_ranks, std::int64_t bytes);
/// Local. The same by the library's node-aware alltoallv: lengths and data to the ranks that stand
/// for pairs of nodes (mpi/collectives/pair_map), across, and spread.
model::MessageStages node_aware_alltoall(const mpi::Topology& topology, std::int64_t bytes);

/// Local. Allreduce and allgather by the library's node-aware schedule (mpi/collectives/schedule).
model::MessageStages node_aware_allreduce(const mpi::Topology& topology, std::int64_t bytes);
model::MessageStages node_aware_allgather(const mpi::Topology& topology,
                                          std::span<const std::int64_t> bytes);

}  // namespace nodewise::predict
