// The JSON report of `nodewise calibrate`.
#pragma once

#include <string>

#include "cli/command_records.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

std::string calibrate_json(const CalibrateRecord& record, const Settings& settings);

}  // namespace nodewise::cli
