// The parts of the report of a solve that a front end fills in. A private header.
#pragma once

#include <string>
#include <vector>

#include "nodewise/report/json_parts.hpp"

namespace nodewise::report {

/// What is not in the solver's record.
struct SolveFrame {
  std::vector<std::string> command_line;
  Json options;                  ///< names and values
  Json local_kernels = nullptr;  ///< what they moved, where a profile was asked for
  std::string solution_file;
  int exit_code = 0;
};

/// Local. The document as text.
std::string solve_json(const solver::SolveRecord& record, const SolveFrame& frame);

}  // namespace nodewise::report
