// What the commands print: what their modules of the library find, and what is said of any run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nodewise/predict/inspection.hpp"
#include "nodewise/predict/result.hpp"
#include "nodewise/predict/solve_prediction.hpp"
#include "nodewise/report/frame.hpp"
#include "nodewise/report/level_pictures.hpp"
#include "nodewise/roofline/overlap.hpp"
#include "nodewise/roofline/record.hpp"
#include "nodewise/roofline/solve_traffic.hpp"
#include "nodewise/solver/amg2023.hpp"
#include "nodewise/solver/record.hpp"
#include "nodewise/solver/tune.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

struct SolveRecord : solver::SolveRecord {
  std::vector<std::string> command_line;
  std::optional<roofline::SolveTraffic> traffic;       ///< where --profile or a report asks for it
  std::optional<predict::SolvePrediction> prediction;  ///< of a report, where a machine is named
  std::vector<report::LevelPicture> pictures;          ///< of a report
  std::string solution_file;                           ///< empty where none was written
  ExitCode exit_code = ExitCode::success;
};

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
  std::optional<roofline::OverlapRecord> overlap;  ///< of `bench overlap`
  std::optional<solver::Amg2023Record> amg2023;    ///< of `bench amg2023`
};

struct TuneRecord {
  report::RunFrame run;
  solver::TuneResult result;
};

}  // namespace nodewise::cli
