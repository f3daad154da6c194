// What stands in the way of a fast solve, in the reports.
#pragma once

#include "nodewise/advise/diagnosis.hpp"

#include "cli/inputs/system.hpp"
#include "cli/json_parts.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Collective. Of a matrix under a Krylov method, and of its hierarchy where there is one: what is
/// known before the solve. A pass over each level and two allreduces, one for the levels and one
/// for the right-hand side; with a near null space an exchange; and problem_facts() where the
/// method is for symmetric matrices and the matrix is not.
std::vector<advise::Finding> find_before_solve(const System& system,
                                               const amg::Hierarchy<double>* hierarchy,
                                               const amg::NearNullSpace<double>& near_null_space,
                                               const Settings& settings, const SolveRecord& record);

/// Adds what the end of the solve says, unless it was known before.
void find_after_solve(SolveRecord& record, const Settings& settings);

/// One entry for each; nothing where there are none.
void print_findings(Console& console, const std::vector<advise::Finding>& findings);

Json findings_json(const std::vector<advise::Finding>& findings);

}  // namespace nodewise::cli
