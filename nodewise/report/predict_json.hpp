// The report of a prediction as JSON; docs/predict.schema.json describes it.
#pragma once

#include <string>

#include "nodewise/predict/result.hpp"
#include "nodewise/report/frame.hpp"

namespace nodewise::report {

/// Local. The document, indented. Numbers that are not finite become null.
std::string predict_json(const predict::Result& result, const RunFrame& run = {});

}  // namespace nodewise::report
