// The JSON report of `nodewise predict`.
#pragma once

#include <string>

#include "cli/command_records.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

std::string predict_json(const PredictRecord& record, const Settings& settings);

}  // namespace nodewise::cli
