// The tables of `nodewise bench`.
#pragma once

#include "cli/command_records.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// The bandwidth of the memory, and a table of kernels for each level.
void print_bench(Console& console, const BenchRecord& record);

/// The figure of merit of AMG2023, and what it is made of.
void print_amg2023(Console& console, const BenchRecord& record);

}  // namespace nodewise::cli
