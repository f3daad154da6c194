// What `nodewise inspect` prints.
#pragma once

#include "cli/command_records.hpp"
#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

void print_inspection(Console& console, const InspectRecord& record, const Settings& settings);

}  // namespace nodewise::cli
