// `nodewise convert`.
#pragma once

#include <memory>

#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Collective. Reads or makes a matrix and writes it in the format of the output's name. Throws
/// Failure or Error, the same on every rank.
ExitCode convert_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings);

}  // namespace nodewise::cli
