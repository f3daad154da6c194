// The tables of `nodewise bench`.
#pragma once

#include "cli/command_records.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// The bandwidth of the memory, and a table of kernels for each level.
void print_bench(Console& console, const BenchRecord& record);

}  // namespace nodewise::cli
