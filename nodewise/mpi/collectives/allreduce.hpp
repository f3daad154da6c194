// Allreduce by the algorithm that the communicator's settings name.
#pragma once

#include <optional>
#include <string>

#include <mpi.h>

#include "nodewise/mpi/collectives/allreduce_choice.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi::collectives {

class ScheduledAllreduce;

/// Local. What brings so many bytes on this communicator, by its settings; null where that is MPI's
/// own algorithm.
ScheduledAllreduce* scheduled_for(const Comm& comm, Offset bytes);

/// Collective. result = the combination of `values` of all ranks by `op`, `count` elements of any
/// datatype, predefined or the caller's, on every rank; values == MPI_IN_PLACE takes them from
/// `result`. Vectors longer than an algorithm takes at once go in pieces.
/// By any but MPI's own algorithm the result is bitwise the same on all ranks. `automatic` leaves
/// long vectors, elements longer than a piece, and operations that are not commutative to MPI's
/// own.
/// `algorithm`, the same on every rank, is taken in place of the communicator's setting; where that
/// does not include it, a call that names it has to plan its messages each time.
/// Messages: those of the schedule and nothing else, each 16 bytes longer than its elements; where
/// what is used is not the first that the setting may take, one small reduction more, for the check
/// of arguments.
/// Throws on every rank alike: invalid_argument for a negative count, a null buffer, datatype or
/// operation, and lengths that differ by rank; where an algorithm was asked for also for an element
/// longer than its piece_bytes; unsupported for an operation that is not
/// commutative where that algorithm was asked for (it is never computed by another instead).
/// Datatypes of one size and operations that differ by
/// rank are not found.
void allreduce(const Comm& comm, const void* values, void* result, Offset count, MPI_Datatype type,
               MPI_Op op, const std::optional<Choice<AllreduceMethod>>& algorithm = {});

/// Collective. The same in place, for arguments that are right by construction: a predefined
/// operation on elements of a predefined type of `element_bytes`, as many on every rank. Nothing is
/// checked, and MPI's own algorithm needs no reduction more.
void allreduce_unchecked(const Comm& comm, void* values, Offset count, Offset element_bytes,
                         MPI_Datatype type, MPI_Op op);

/// Local. Says in a sentence or two which algorithm this communicator uses for what, and why.
std::string explain_allreduce(const Comm& comm);

}  // namespace nodewise::mpi::collectives
