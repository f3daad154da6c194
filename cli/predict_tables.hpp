// What `nodewise predict` prints.
#pragma once

#include "cli/console.hpp"
#include "cli/predict_record.hpp"

namespace nodewise::cli {

void print_prediction(Console& console, const PredictRecord& record, const Settings& settings);

}  // namespace nodewise::cli
