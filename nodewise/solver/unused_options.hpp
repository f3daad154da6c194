// Options that were given and have no effect beside the others.
#pragma once

#include <vector>

#include "nodewise/solve/krylov.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::solver {

/// Local. Of a solve, once its preset is applied and its method chosen; in the order of the tables.
std::vector<UnusedOption> unused_options(const Options& options,
                                         const Choice<solve::KrylovMethod>& method);

/// Local. Those of multigrid among them, which no method decides.
std::vector<UnusedOption> unused_multigrid_options(const Options& options);

/// Local. Whether nothing that was given is for multigrid, or chooses a preconditioner, a Krylov
/// method or a device.
bool leaves_methods_open(const Options& options);

}  // namespace nodewise::solver
