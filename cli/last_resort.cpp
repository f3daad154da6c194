#include "cli/last_resort.hpp"

#include <time.h>

#include <fmt/format.h>

#include "nodewise/base/timer.hpp"

#include "cli/print/console.hpp"

namespace nodewise::cli {

namespace {

constexpr double patience_s = 20;

/// Whether the request completed before time was up.
bool completes_in_time(MPI_Request& request) {
  const Timer timer;
  int done = 0;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
    if (done) return true;
    if (timer.seconds() > patience_s) return false;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return false;
}

}  // namespace

ExitCode agreed_end(const mpi::Comm& world, ExitCode code, const char* message) {
  // The lowest rank with a message has the largest second number.
  const int mine[2] = {static_cast<int>(code), message ? world.size() - world.rank() : 0};
  int largest[2] = {mine[0], mine[1]};
  MPI_Request request = MPI_REQUEST_NULL;
  bool complete =
      MPI_Iallreduce(mine, largest, 2, MPI_INT, MPI_MAX, world.get(), &request) == MPI_SUCCESS;
  if (complete && message == nullptr) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (complete && message != nullptr) complete = completes_in_time(request);
  if (message != nullptr && !complete) {
    print_error(fmt::format("nodewise: rank {} failed alone, all ranks are stopped: {}\n",
                            world.rank(), message));
    MPI_Abort(world.get(), static_cast<int>(ExitCode::internal));
  }
  if (message != nullptr && largest[1] == mine[1]) {
    print_error(fmt::format("nodewise: {}\n", message));
  }
  return static_cast<ExitCode>(largest[0]);
}

}  // namespace nodewise::cli
