// All that is known of a run of `nodewise solve`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nodewise/roofline/solve_traffic.hpp"
#include "nodewise/solver/record.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

/// What `nodewise solve` reports.
struct SolveRecord : solver::SolveRecord {
  std::vector<std::string> command_line;
  std::optional<roofline::SolveTraffic> traffic;  ///< where --profile asks for it
  std::optional<double> unscaled_residual;  ///< |b - A x| / |b| of the system as given, if scaled
  std::string solution_file;                ///< empty where none was written
  ExitCode exit_code = ExitCode::success;
};

}  // namespace nodewise::cli
