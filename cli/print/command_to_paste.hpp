// Options as words of a command line.
#pragma once

#include <string>

#include "nodewise/report/frame.hpp"
#include "nodewise/solver/tune.hpp"

namespace nodewise::cli {

/// "--smoother chebyshev --unknowns 3"
std::string option_words(const solver::NamedValues& options);

/// Local. The command line that solves with these options: the words of `nodewise tune` but for
/// what concerns tuning and reports, quoted for a shell.
std::string command_to_paste(const report::RunFrame& run, const solver::NamedValues& options);

}  // namespace nodewise::cli
