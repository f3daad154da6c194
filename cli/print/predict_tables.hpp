// What `nodewise predict` prints.
#pragma once

#include "cli/command_records.hpp"
#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

void print_prediction(Console& console, const PredictRecord& record, const Settings& settings);

}  // namespace nodewise::cli
