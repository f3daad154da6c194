// Starts and ends MPI around the program.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <mpi.h>

#include "cli/program.hpp"

int main(int argc, char** argv) {
  int threads = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads) != MPI_SUCCESS) {
    std::fprintf(stderr, "nodewise: MPI cannot be started\n");
    return static_cast<int>(nodewise::cli::ExitCode::internal);
  }
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
