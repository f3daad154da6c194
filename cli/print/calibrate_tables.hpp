// The tables of `nodewise calibrate`.
#pragma once

#include "nodewise/calibrate/calibrate.hpp"

#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Tables of the fits, and what was not measured.
void print_calibration(Console& console, const calibrate::Calibration& found);

}  // namespace nodewise::cli
