// The report of an inspection as JSON; docs/inspect.schema.json describes it.
#pragma once

#include <string>

#include "nodewise/predict/inspection.hpp"
#include "nodewise/report/frame.hpp"

namespace nodewise::report {

/// Local. The document, indented. Numbers that are not finite become null.
std::string inspect_json(const predict::Inspection& found, const RunFrame& run = {});

}  // namespace nodewise::report
