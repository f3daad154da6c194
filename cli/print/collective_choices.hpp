// Which algorithms the communication of all ranks takes by itself, and why.
#pragma once

#include "nodewise/run/records.hpp"

#include "cli/print/console.hpp"

namespace nodewise::cli {

/// A section of the profile.
void print_collectives(Console& console, const run::CollectiveChoices& choices);

}  // namespace nodewise::cli
