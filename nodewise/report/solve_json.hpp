// The report of a solve as JSON; docs/report.md describes it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/predict/solve_prediction.hpp"
#include "nodewise/report/frame.hpp"
#include "nodewise/report/level_pictures.hpp"
#include "nodewise/roofline/solve_traffic.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::report {

/// What a front end adds to the solver's record.
struct SolveFrame {
  std::vector<std::string> command_line;
  std::vector<ReportedOption> options;
  const roofline::SolveTraffic* traffic = nullptr;       ///< where a profile was asked for
  const predict::SolvePrediction* prediction = nullptr;  ///< where a machine is known
  std::span<const LevelPicture> pictures = {};
  std::string solution_file;
  int exit_code = 0;
};

/// Local. The document, indented. Numbers that are not finite become null.
std::string solve_json(const solver::SolveRecord& record);
std::string solve_json(const solver::SolveRecord& record, const SolveFrame& frame);

}  // namespace nodewise::report
