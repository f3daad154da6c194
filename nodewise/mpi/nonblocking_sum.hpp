// A sum over all ranks that goes on while they do something else.
#pragma once

#include <span>

#include <mpi.h>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi {

/// Sums arrays of equal length over all ranks, element by element and in place, by MPI's own
/// algorithm: one MPI_Iallreduce. Other messages and collectives may go between start and end, in
/// the same order on all ranks. MPI decides how far the sum gets meanwhile; the library's exchanges
/// give it the processor.
class NonblockingSum {
 public:
  /// Collective. Begins; `values` must stay untouched until finish(). Throws Error{mpi}.
  NonblockingSum(const Comm& comm, std::span<double> values);
  /// Waits for a sum that is still on its way.
  ~NonblockingSum();
  NonblockingSum(const NonblockingSum&) = delete;
  NonblockingSum& operator=(const NonblockingSum&) = delete;

  /// Collective. Waits; `values` are the sums. Throws Error{mpi}.
  void finish();

 private:
  const Comm& comm_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace nodewise::mpi
