// The options of a calibration.
#pragma once

#include <span>
#include <string>

#include "nodewise/base/options.hpp"

namespace nodewise::calibrate {

struct CalibrateOptions {
  double seconds = 120;
  double largest_message = 1048576;
  std::string base;  ///< a machine file, or the name of a machine of the library
  std::string name = "calibrated";
};

std::span<const Field<CalibrateOptions>> calibrate_fields();

}  // namespace nodewise::calibrate
