#include "nodewise/mpi/window.hpp"

#include "nodewise/mpi/comm.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::mpi {

namespace {

/// MPICH 4.0 gives ranks of a node that share a window different ideas of where odd-sized parts
/// begin.
Offset rounded_up(Offset bytes) {
  constexpr Offset line = 64;
  return (bytes + line - 1) / line * line;
}

}  // namespace

// MPI's own memory: Open MPI offers windows on a node for no other, unless the system lets
// processes read each other's.
Window::Window(const Comm& comm, Offset bytes) : comm_(comm) {
  const CollectiveCall call(comm_);
  std::byte* memory = nullptr;
  check(MPI_Win_allocate(static_cast<MPI_Aint>(rounded_up(bytes)), 1, MPI_INFO_NULL, comm.get(),
                         static_cast<void*>(&memory), &window_),
        "this MPI cannot make a window for one-sided messages: MPI_Win_allocate");
  memory_ = {memory, static_cast<std::size_t>(bytes)};
  check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}

Window::~Window() {
  if (is_finalized()) return;
  const CollectiveCall call(comm_);
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

void Window::sync() const {
  check(MPI_Win_sync(window_), "MPI_Win_sync");
}

}  // namespace nodewise::mpi
