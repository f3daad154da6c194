// `nodewise bench spmv`
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Collective. Measures the bandwidth of the memory, and every kernel of every level against what
/// it allows. Throws Failure as inspect_command() does, and where the matrix is none for multigrid.
ExitCode bench_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings,
                       std::span<const std::string> command_line);

}  // namespace nodewise::cli
