// The program without its MPI_Init: parses, runs a command, reports failures.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

/// Collective on `world`. `words` are the arguments behind the program's name; those of rank 0
/// count, so that all ranks do the same whatever they were started with. Prints at most one error
/// message, on rank 0. Every rank returns the same code.
ExitCode run_program(const std::shared_ptr<const mpi::Comm>& world,
                     std::span<const std::string> words);

/// Collective on `world`. Runs a command for a program that called it as a function: without a word
/// on the console but what the command is for, and with failures thrown, the same on every rank,
/// as Failure or Error. `given`, unless null, is the matrix that the command works on, whose name
/// in reports is its one argument in `words`.
ExitCode call_program(const std::shared_ptr<const mpi::Comm>& world,
                      std::span<const std::string> words,
                      const std::shared_ptr<const matrix::DistMatrix<double>>& given);

}  // namespace nodewise::cli
