// The answer of `nodewise predict`, on one screen.
#pragma once

#include <string>

#include "cli/command_records.hpp"
#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// "12.3": three digits of so many microseconds.
std::string microseconds(double seconds);

/// What a cycle and a setup exchange over the best routes and over one, the gain, the level that
/// costs most, where more ranks stop paying, and what all that is of.
void print_prediction_summary(Console& console, const PredictRecord& record,
                              const Settings& settings);

}  // namespace nodewise::cli
