// `nodewise inspect`.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Collective. Describes a matrix and its hierarchy, and counts messages for virtual ranks. Throws
/// Failure or Error, the same on every rank.
ExitCode inspect_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings,
                         std::span<const std::string> command_line);

}  // namespace nodewise::cli
