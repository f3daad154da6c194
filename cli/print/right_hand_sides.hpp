// What is said of several right-hand sides.
#pragma once

#include <string>

#include "nodewise/solver/solve_all.hpp"

#include "cli/command_records.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Names each group of right-hand sides that are solved for together, and prints its iterations.
solver::GroupObserver group_progress(Console& console);

/// A table with a line for each; of many right-hand sides for those that did not converge. Nothing
/// where there is one.
void print_right_hand_sides(Console& console, const SolveRecord& record);

/// "8 of 8 converged, after 9 to 11 iterations"
std::string right_hand_sides_text(const SolveRecord& record);

}  // namespace nodewise::cli
