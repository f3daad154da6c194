// What a solve on a device has chosen.
#pragma once

#include "nodewise/solver/record.hpp"

#include "cli/print/console.hpp"

namespace nodewise::cli {

/// How the data of each level leave the device; nothing where none do.
void print_ways(Console& console, const solver::SolveRecord& record);

}  // namespace nodewise::cli
