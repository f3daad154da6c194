// The JSON report of `nodewise predict`; docs/predict.schema.json describes it.
#pragma once

#include <string>

#include "cli/options/settings.hpp"
#include "cli/predict_record.hpp"

namespace nodewise::cli {

std::string predict_json(const PredictRecord& record, const Settings& settings);

}  // namespace nodewise::cli
