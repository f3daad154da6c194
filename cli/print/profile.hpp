// Where messages and time went, by level and operation.
#pragma once

#include "cli/command_records.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Two tables, of the setup and of the solve: what --profile asks for.
void print_profile(Console& console, const SolveRecord& record);

/// Which algorithms the collectives of a solve took, and why.
void print_collectives(Console& console, const run::CollectiveChoices& choices);

/// "12 % of the setup, 34 % of the solve": the share of communication in the ranks' time.
std::string communication_text(const SolveRecord& record);

}  // namespace nodewise::cli
