// The options of a command, as its report has them.
#pragma once

#include <vector>

#include "nodewise/report/frame.hpp"

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Every option that the command takes, with its value; those of model problems only where there
/// is one.
std::vector<report::ReportedOption> reported_options(const Settings& settings);

}  // namespace nodewise::cli
