// A preconditioner in words, for PCView().
#pragma once

#include <string>

#include "nodewise/solver/record.hpp"

namespace nodewise::petsc {

/// Local. Preset, options and levels, a line each; the same on every rank. `prefix` is that of the
/// PC's options.
std::string description(const solver::SolveRecord& record, const char* prefix);

}  // namespace nodewise::petsc
