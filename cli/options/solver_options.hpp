// The options of the command line that say how a system is solved, as the library takes them.
#pragma once

#include "nodewise/solver/options.hpp"
#include "nodewise/solver/record.hpp"

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// With the names of those that were given.
solver::Options solver_options(const Settings& settings);

/// Puts what the library made of them into the settings, which reports print.
void adopt(const solver::Options& options, Settings& settings);

/// Collective. Puts the options of --preset into the settings, except those that were given, for a
/// command that sets up levels and does not solve.
solver::PresetRecord apply_preset(const matrix::DistMatrix<double>& A, bool symmetric,
                                  Settings& settings);

}  // namespace nodewise::cli
