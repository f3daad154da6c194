// What `nodewise inspect` prints.
#pragma once

#include "cli/inspect_record.hpp"
#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Size, shape and values of the matrix.
void print_matrix(Console& console, const InspectRecord& record);
/// The table of levels, or why there is none.
void print_levels(Console& console, const InspectRecord& record);
/// The virtual machine, and the tables of messages and bytes on it.
void print_counts(Console& console, const InspectRecord& record, const Settings& settings);
/// Times, memory, files.
void print_cost(Console& console, const InspectRecord& record, const Settings& settings);

}  // namespace nodewise::cli
