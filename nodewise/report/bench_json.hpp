// The report of a measurement of kernels as JSON; docs/bench.schema.json describes it.
#pragma once

#include <string>

#include "nodewise/report/frame.hpp"
#include "nodewise/roofline/record.hpp"

namespace nodewise::report {

/// Local. The document, indented. Numbers that are not finite become null.
std::string bench_json(const roofline::Record& record, const RunFrame& run = {});

}  // namespace nodewise::report
