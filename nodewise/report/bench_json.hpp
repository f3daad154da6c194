// The reports of `nodewise bench` as JSON; docs/bench.schema.json and docs/overlap.schema.json
// describe them.
#pragma once

#include <string>

#include "nodewise/report/frame.hpp"
#include "nodewise/roofline/overlap.hpp"
#include "nodewise/roofline/record.hpp"

namespace nodewise::report {

// Local. The document, indented. Numbers that are not finite become null.

/// Of kernels.
std::string bench_json(const roofline::Record& record, const RunFrame& run = {});
/// Of computing while messages travel.
std::string overlap_json(const roofline::OverlapRecord& record, const RunFrame& run = {});

}  // namespace nodewise::report
