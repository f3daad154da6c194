// Memory that other ranks put into.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <mpi.h>

#include "nodewise/base/types.hpp"

namespace nodewise::mpi {

class Comm;

/// A window of MPI in one epoch of passive target synchronisation from its making to its end. Puts
/// are over after a flush: MPICH 4.0 over UCX has some under way when MPI_Win_complete and
/// MPI_Win_fence return.
class Window {
 public:
  /// Collective. Makes `bytes` of this rank's memory open to puts of all ranks, of which each may
  /// have more or less. Throws mpi where this MPI cannot.
  Window(const Comm& comm, Offset bytes);
  /// Collective, before MPI is finalised.
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win get() const { return window_; }
  std::span<std::byte> memory() const { return memory_; }
  /// Local. Separates what this rank does with its memory from what others put there.
  void sync() const;

 private:
  const Comm& comm_;  // which outlives it
  MPI_Win window_ = MPI_WIN_NULL;
  std::span<std::byte> memory_;
};

/// A window that stays from one call to the next.
struct KeptWindow {
  std::unique_ptr<Window> window = nullptr;
  const void* user = nullptr;  ///< who made it: others do not know how large it is
  Offset unit_bytes = 0;       ///< the same on every rank
};

}  // namespace nodewise::mpi
