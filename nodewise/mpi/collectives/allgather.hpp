// Allgather by the algorithm that the communicator's settings name.
#pragma once

#include <optional>
#include <span>

#include <mpi.h>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi::collectives {

/// The most data of all ranks together, in bytes, that `automatic` gathers by the node-aware
/// algorithm.
constexpr Offset automatic_allgather_bytes = Offset{1} << 16;

/// Collective. Every rank gets the blocks of all: counts[r] elements of rank r at element starts[r]
/// of `all`. `mine` holds send_count elements of send_type, as many bytes as this rank's block; or
/// it is MPI_IN_PLACE, and the block lies in `all` already. Any datatypes; any counts, zero
/// included, the same on every rank; 64-bit throughout, except by MPI's own algorithm.
/// The node-aware algorithm follows the schedule of the allreduce, with blocks put side by side in
/// place of sums: every block enters every node once, brought by one of its ranks, while the others
/// fetch other blocks. The ring and Bruck's algorithm do not look at nodes. Messages: as the
/// schedule has, less those without data; and one small reduction for the check of arguments.
/// `algorithm`, the same on every rank, is taken in place of the communicator's setting.
/// Throws invalid_argument on every rank alike where something is wrong or differs by rank, and
/// index_overflow where MPI's own algorithm is chosen and cannot count so far.
/// Source for the idea: Bienz, Gautam, Kharel, "A locality-aware Bruck allgather", 2022; theirs
/// wants equal nodes in a power, and rotates the result.
void allgatherv(const Comm& comm, const void* mine, Offset send_count, MPI_Datatype send_type,
                void* all, std::span<const Offset> counts, std::span<const Offset> starts,
                MPI_Datatype type, const std::optional<Choice<AllgatherMethod>>& algorithm = {});

/// Collective. The same with `count` elements from each rank, one after the other.
void allgather(const Comm& comm, const void* mine, Offset send_count, MPI_Datatype send_type,
               void* all, Offset count, MPI_Datatype type,
               const std::optional<Choice<AllgatherMethod>>& algorithm = {});

}  // namespace nodewise::mpi::collectives
