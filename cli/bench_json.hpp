// The JSON report of `nodewise bench`.
#pragma once

#include <string>

#include "cli/command_records.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

std::string bench_json(const BenchRecord& record, const Settings& settings);

}  // namespace nodewise::cli
