// Input files that no output may replace.
#pragma once

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Local. Throws Failure{usage} where a file to write is one to read, or another to write, by
/// whatever name.
void check_distinct_files(const Settings& settings);

}  // namespace nodewise::cli
