// Solving for several right-hand sides, and what is said of each.
#pragma once

#include <span>

#include "nodewise/solve/operator.hpp"

#include "cli/inputs/system.hpp"
#include "cli/json_parts.hpp"
#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

/// Whether so many right-hand sides are solved for together: by cg, which has such a form; the
/// other methods take one after another.
bool solves_at_once(solve::Method method, int n_rhs);

/// Collective. Solves A X = system.b by record.method from X = 0; X: this rank's part, row-major as
/// system.b. cg takes up to solve::max_block_width columns at once, and of more as many groups as
/// that makes. Sets the record's reports.
void solve_all(const System& system, const solve::Operator<double>* preconditioner,
               const Settings& settings, Console& console, std::span<double> X,
               SolveRecord& record);

/// A table with a line for each; of many right-hand sides for those that did not converge. Nothing
/// where there is one.
void print_right_hand_sides(Console& console, const SolveRecord& record);

/// "8 of 8 converged, after 9 to 11 iterations"
std::string right_hand_sides_text(const SolveRecord& record);

/// What the report has of each.
Json right_hand_sides_json(const SolveRecord& record);

}  // namespace nodewise::cli
