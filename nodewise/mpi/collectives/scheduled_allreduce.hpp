// Runs a schedule as an allreduce.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <mpi.h>

#include "nodewise/base/array.hpp"
#include "nodewise/base/types.hpp"
#include "nodewise/mpi/collectives/schedule.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi::collectives {

/// By one method, bound to a communicator; keeps its buffers. Every rank makes the same calls, in
/// the same order.
class ScheduledAllreduce {
 public:
  /// Local. `longest`: of the vectors, in bytes, that the communicator's rule brings this way.
  /// `comm` must outlive this, and the method must have a schedule.
  ScheduledAllreduce(const Comm& comm, const AllreduceMethod& method,
                     Offset longest = std::numeric_limits<Offset>::max());

  const AllreduceMethod& method() const { return method_; }
  Offset longest() const { return longest_; }
  const Schedule& schedule() const { return schedule_; }

  /// The arguments of a rank besides its numbers.
  struct Call {
    bool failed;   ///< whether it cannot take part with numbers; it sends and receives all the same
    Offset bytes;  ///< how long its vector is
  };

  /// Collective. Combines `count` elements of every rank into `result`, which may be the same
  /// address. Returns, on every rank alike, whether no rank has failed and all bring vectors of the
  /// same length; otherwise the result is undefined. `op` must be commutative. Elements are
  /// combined in one order on all ranks: the result is bitwise the same everywhere, for any
  /// operation. Messages as in the schedule, 16 bytes longer than their elements. Throws mpi.
  /// Needs count = 0 or elements of at most the method's piece_bytes in all.
  bool run(const Call& call, const void* values, void* result, int count, MPI_Datatype type,
           MPI_Op op);

 private:
  struct Header {
    std::int64_t failed;
    std::int64_t bytes;
  };
  struct Vector;

  void load(const Vector& v, const void* values, int slot);
  void store(const Vector& v, void* result);
  void run_round(const Round& round, const Vector& v, Header& header);
  void unpack(const Message& message, const std::byte* received, std::size_t length,
              const Vector& v, Header& header);
  void fold(const Vector& v, int n_slots);
  std::byte* slot(const Vector& v, int number);
  std::size_t room_for(const Message& message) const;

  const Comm& comm_;
  const AllreduceMethod& method_;
  Offset longest_;
  Schedule schedule_;
  Array<std::byte> slots_;
  Array<std::byte> outgoing_;
  Array<std::byte> incoming_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace nodewise::mpi::collectives
