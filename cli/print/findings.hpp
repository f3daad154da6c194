// What stands in the way of a fast solve, in the reports.
#pragma once

#include "nodewise/advise/diagnosis.hpp"

#include "cli/command_records.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Names options, and rows, in findings, diagnoses and reasons as on the command line.
void name_options(SolveRecord& record);

/// One entry for each; nothing where there are none.
void print_findings(Console& console, const std::vector<advise::Finding>& findings);

}  // namespace nodewise::cli
