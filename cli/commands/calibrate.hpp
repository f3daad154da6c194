// `nodewise calibrate`.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Collective. Measures the machine and writes what the models of cost need of it. Throws Failure
/// or Error, the same on every rank.
ExitCode calibrate_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings,
                           std::span<const std::string> command_line);

}  // namespace nodewise::cli
