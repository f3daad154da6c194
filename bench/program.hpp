// The frame of a benchmark's main().
#pragma once

#include <cstdlib>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>
#include <mpi.h>

namespace nodewise::bench {

/// Parses the command line, runs the benchmark between MPI_Init and MPI_Finalize and returns the
/// exit status of the program.
template <class Run>
int run_program(CLI::App& app, int argc, char** argv, Run&& run) {
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  try {
    run();
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return EXIT_FAILURE;  // without MPI_Finalize: mpirun ends the other ranks
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}

/// The option by which a benchmark pretends to have nodes.
inline void add_ranks_per_node(CLI::App& app, int& ranks_per_node) {
  app.add_option("--ranks-per-node", ranks_per_node,
                 "in place of the real nodes, to see counts on one machine")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace nodewise::bench
