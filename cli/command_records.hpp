// What the commands report beside what their modules of the library find.
#pragma once

#include <string>
#include <vector>

#include "nodewise/calibrate/calibrate.hpp"
#include "nodewise/predict/inspection.hpp"
#include "nodewise/predict/result.hpp"
#include "nodewise/roofline/record.hpp"

#include "cli/record.hpp"

namespace nodewise::cli {

/// What is said of any run.
struct RunRecord {
  std::vector<std::string> command_line;
  run::Environment machine;
  run::MatrixSummary matrix;
  solver::PresetRecord preset;
  double read_s = 0;
  run::MemoryUse memory;
};

struct PredictRecord {
  RunRecord run;
  predict::Result result;
};

struct InspectRecord {
  RunRecord run;
  predict::Inspection found;
};

struct BenchRecord {
  RunRecord run;
  roofline::Record measured;
};

struct CalibrateRecord {
  RunRecord run;  ///< without matrix and preset
  calibrate::Calibration found;
};

}  // namespace nodewise::cli
