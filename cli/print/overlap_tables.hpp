// The tables of `nodewise bench overlap`.
#pragma once

#include "cli/command_records.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// What is fastest, then a table for the products of each level, and one for the cycle.
void print_overlap(Console& console, const BenchRecord& record);

}  // namespace nodewise::cli
