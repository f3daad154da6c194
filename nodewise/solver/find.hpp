// What stands in the way of a fast solve, looked for before it and after it.
#pragma once

#include <span>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::solver {

/// Collective. Of the record's matrix and method, and of the hierarchy where there is one: what is
/// known before the solve for the n_rhs right-hand sides b. A pass over each level and two
/// allreduces, one for the levels and one for the right-hand side; with a near null space an
/// exchange; and problem_facts() where the method is for symmetric matrices and the matrix is not.
std::vector<advise::Finding> find_before_solve(
    const std::shared_ptr<const matrix::DistMatrix<double>>& A,
    const amg::Hierarchy<double>* hierarchy, const amg::NearNullSpace<double>& near_null_space,
    std::span<const double> b, int n_rhs, const SolveRecord& record);

/// Local. Adds what the end of the solve says, unless it was known before.
void find_after_solve(SolveRecord& record);

}  // namespace nodewise::solver
