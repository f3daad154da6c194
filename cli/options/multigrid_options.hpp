// The options of multigrid that were given: set once it is known which methods have them.
#pragma once

#include <vector>

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Sets what was given, choices first. Returns what belongs to methods that are not chosen.
std::vector<NamedValue> set_multigrid_options(Settings& settings);

/// Throws invalid_argument where an option has no method to belong to, whichever preset is taken of
/// those that may be.
void check_multigrid_options(const Settings& settings);

}  // namespace nodewise::cli
