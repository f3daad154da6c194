#include "cli/last_resort.hpp"

#include <cstdio>
#include <time.h>

#include <fmt/format.h>

#include "nodewise/base/timer.hpp"

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
  int mine = static_cast<int>(code);
  int largest = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  const int status = MPI_Iallreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, world.get(), &request);
  if (message == nullptr) {
    if (status == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return static_cast<ExitCode>(largest);
  }
  if (status == MPI_SUCCESS && completes_in_time(request)) return static_cast<ExitCode>(largest);
  fmt::print(stderr, "nodewise: rank {} failed alone, all ranks are stopped: {}\n", world.rank(),
             message);
  std::fflush(stderr);
  MPI_Abort(world.get(), static_cast<int>(ExitCode::internal));
  return ExitCode::internal;
}

}  // namespace nodewise::cli
