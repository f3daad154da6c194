// What `nodewise calibrate` prints and writes.
#pragma once

#include <optional>
#include <string>

#include "nodewise/model/machine.hpp"

#include "cli/calibrate_fit.hpp"
#include "cli/calibrate_record.hpp"
#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// The report as JSON: every time that was taken, the fits, and the machine where there is one.
std::string calibrate_json(const CalibrateRecord& record, const CalibrateFits& fits,
                           const std::optional<model::Machine>& machine, const Settings& settings);

/// Tables of the fits, and what was not measured.
void print_calibration(Console& console, const CalibrateRecord& record, const CalibrateFits& fits);

}  // namespace nodewise::cli
