// The report of a calibration as JSON; docs/calibrate.schema.json describes it.
#pragma once

#include <string>

#include "nodewise/calibrate/calibrate.hpp"
#include "nodewise/report/frame.hpp"

namespace nodewise::report {

/// Local. The document, indented. Numbers that are not finite become null.
std::string calibrate_json(const calibrate::Calibration& found, const RunFrame& run = {});

}  // namespace nodewise::report
