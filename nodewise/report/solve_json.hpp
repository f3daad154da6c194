// The report of a solve as JSON; docs/report.md describes it.
#pragma once

#include <string>

#include "nodewise/solver/record.hpp"

namespace nodewise::report {

/// Local. The document, indented. Numbers that are not finite become null.
std::string solve_json(const solver::SolveRecord& record);

}  // namespace nodewise::report
