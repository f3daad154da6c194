// Which algorithms the communication of all ranks takes by itself, and why.
#pragma once

#include "cli/inputs/system.hpp"
#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

/// Collective; an allreduce, and those of agreements. What a solve by `method` with this matrix
/// does on its finest level.
CollectiveChoices explain_collectives(const Matrix& A, const Settings& settings,
                                      solve::Method method, int n_rhs);

/// A section of the profile.
void print_collectives(Console& console, const CollectiveChoices& choices);

}  // namespace nodewise::cli
