// The report of `nodewise solve` as JSON; docs/report.md describes it.
#pragma once

#include <string>

#include "cli/options/settings.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

/// Local. The document, indented. Numbers that are not finite become null.
std::string report_json(const SolveRecord& record, const Settings& settings);

}  // namespace nodewise::cli
