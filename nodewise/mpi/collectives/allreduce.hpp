// Allreduce by the algorithm that the communicator's settings name.
#pragma once

#include <optional>
#include <string>

#include <mpi.h>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi::collectives {

/// The longest vector, in bytes, that `automatic` brings by the node-aware algorithm. There a rank
/// receives the vectors of all ranks of its node, which stops paying when they are long.
constexpr Offset automatic_allreduce_bytes = 8192;

/// Local. Whether the node-aware algorithm may be used at all. `automatic` wants several nodes and
/// a node of several ranks: otherwise there is nothing to share out, and MPI's own is no worse.
bool wants_node_aware_allreduce(const Collective& setting, const Topology& topology);

/// Collective. result = the combination of `values` of all ranks by `op`, `count` elements of any
/// datatype, predefined or the caller's, on every rank; values == MPI_IN_PLACE takes them from
/// `result`. Vectors longer than NodeAwareAllreduce takes at once go in pieces.
/// By the node-aware algorithm the result is bitwise the same on all ranks. `automatic` leaves long
/// vectors, elements longer than that algorithm takes, and operations that are not commutative to
/// MPI's own.
/// `algorithm`, the same on every rank, is taken in place of the communicator's setting; where that
/// rules the node-aware algorithm out, a call that names it has to plan its messages each time.
/// Messages: those of the schedule and nothing else; where MPI's own algorithm is used, or is
/// the setting, one small reduction more, for the check of arguments.
/// Throws on every rank alike: invalid_argument for a negative count, a null buffer, datatype or
/// operation, and lengths that differ by rank; by the node-aware algorithm also for an element
/// longer than NodeAwareAllreduce::max_piece_bytes; unsupported for an operation that is not
/// commutative where that algorithm was asked for (it is never computed by another instead).
/// Datatypes of one size and operations that differ by
/// rank are not found.
void allreduce(const Comm& comm, const void* values, void* result, Offset count, MPI_Datatype type,
               MPI_Op op, const std::optional<Collective>& algorithm = {});

/// Collective. The same in place, for arguments that are right by construction: a predefined
/// operation on elements of a predefined type of `element_bytes`, as many on every rank. Nothing is
/// checked, and MPI's own algorithm needs no reduction more.
void allreduce_unchecked(const Comm& comm, void* values, Offset count, Offset element_bytes,
                         MPI_Datatype type, MPI_Op op);

/// Local. Says in a sentence or two which algorithm this communicator uses for what, and why.
std::string explain_allreduce(const Comm& comm);

}  // namespace nodewise::mpi::collectives
