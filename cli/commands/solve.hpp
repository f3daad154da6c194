// `nodewise solve`.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Collective. Loads or makes the system, solves it, prints and writes what the settings ask for.
/// Returns success or not_converged; throws Failure or Error, the same on every rank, for all else.
ExitCode solve_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings,
                       std::span<const std::string> command_line);

}  // namespace nodewise::cli
