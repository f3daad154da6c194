// The reports of `nodewise bench` as JSON; docs/bench.schema.json, docs/overlap.schema.json and
// docs/amg2023.schema.json describe them.
#pragma once

#include <string>

#include "nodewise/report/frame.hpp"
#include "nodewise/roofline/overlap.hpp"
#include "nodewise/roofline/record.hpp"
#include "nodewise/solver/amg2023.hpp"

namespace nodewise::report {

// Local. The document, indented. Numbers that are not finite become null.

/// Of kernels.
std::string bench_json(const roofline::Record& record, const RunFrame& run = {});
/// Of computing while messages travel.
std::string overlap_json(const roofline::OverlapRecord& record, const RunFrame& run = {});
/// Of the benchmark AMG2023.
std::string amg2023_json(const solver::Amg2023Record& record, const RunFrame& run = {});

}  // namespace nodewise::report
