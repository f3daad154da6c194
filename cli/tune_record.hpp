// All that is known of a run of `nodewise tune`.
#pragma once

#include <string>
#include <vector>

#include "nodewise/run/environment.hpp"
#include "nodewise/solver/tune.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

struct TuneRecord : solver::TuneResult {
  std::vector<std::string> command_line;
  run::Environment machine;
  run::MatrixSummary matrix;
  ExitCode exit_code = ExitCode::success;
};

/// "--smoother chebyshev --unknowns 3"
std::string option_words(const solver::NamedValues& options);

/// Local. The command line that solves with these options: the words of `nodewise tune` but for
/// what concerns tuning and reports, quoted for a shell.
std::string command_to_paste(const TuneRecord& record, const solver::NamedValues& options);

std::string tune_json(const TuneRecord& record, const Settings& settings);

}  // namespace nodewise::cli
