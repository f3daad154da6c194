// The report of tuning as JSON; docs/tune.schema.json describes it.
#pragma once

#include <string>
#include <vector>

#include "nodewise/report/frame.hpp"
#include "nodewise/solver/tune.hpp"

namespace nodewise::report {

/// What a front end adds to the result.
struct TuneFrame {
  RunFrame run;
  std::vector<std::string> commands;  ///< one for each trial, to paste
  int exit_code = 0;
};

/// Local. The document, indented. Numbers that are not finite become null.
std::string tune_json(const solver::TuneResult& result, const TuneFrame& frame);

}  // namespace nodewise::report
