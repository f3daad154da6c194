// Starts and ends MPI around the program.
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <mpi.h>

#include "cli/interruption.hpp"
#include "cli/program.hpp"

namespace {

/// Otherwise a file opened later would have the number of a standard stream that was closed, and
/// receive what is printed there. A closed standard output stays one that cannot be written.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);  // the lowest free number
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  int threads = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads) != MPI_SUCCESS) {
    std::fprintf(stderr, "nodewise: MPI cannot be started\n");
    return static_cast<int>(nodewise::cli::ExitCode::internal);
  }
  nodewise::cli::handle_signals();
  int code = static_cast<int>(nodewise::cli::ExitCode::internal);
  try {
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    code = static_cast<int>(
        nodewise::cli::run_program(nodewise::mpi::Comm::create(MPI_COMM_WORLD), words));
  } catch (const std::exception& error) {
    // Nothing but the making of the communicator, or the lack of memory for a message, ends here.
    std::fprintf(stderr, "nodewise: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return code;
}
