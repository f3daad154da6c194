// What the commands print: what their modules of the library find, and what is said of any run.
#pragma once

#include "nodewise/predict/inspection.hpp"
#include "nodewise/predict/result.hpp"
#include "nodewise/report/frame.hpp"
#include "nodewise/roofline/record.hpp"
#include "nodewise/solver/tune.hpp"

namespace nodewise::cli {

struct PredictRecord {
  report::RunFrame run;
  predict::Result result;
};

struct InspectRecord {
  report::RunFrame run;
  predict::Inspection found;
};

struct BenchRecord {
  report::RunFrame run;
  roofline::Record measured;
};

struct TuneRecord {
  report::RunFrame run;
  solver::TuneResult result;
};

}  // namespace nodewise::cli
