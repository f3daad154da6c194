// The JSON report of `nodewise inspect`.
#pragma once

#include <string>

#include "cli/command_records.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

std::string inspect_json(const InspectRecord& record, const Settings& settings);

}  // namespace nodewise::cli
