// The report of an inspection as JSON; docs/inspect.md describes it.
#pragma once

#include <string>

#include "cli/inspect_record.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Local. The document, indented. Numbers that are not finite become null.
std::string inspect_json(const InspectRecord& record, const Settings& settings);

}  // namespace nodewise::cli
