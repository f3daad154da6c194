// `nodewise tune`
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Collective. Solves the system with one combination of options after the other, and says which
/// was the fastest. A candidate that fails is shown with its reason and does not end the run;
/// not_converged where none converged. Throws Failure as solve_command() does.
ExitCode tune_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings,
                      std::span<const std::string> command_line);

}  // namespace nodewise::cli
