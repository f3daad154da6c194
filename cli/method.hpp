// Which Krylov method and preconditioner the settings come to.
#pragma once

#include <memory>

#include "nodewise/solve/krylov.hpp"

#include "cli/settings.hpp"
#include "cli/system.hpp"

namespace nodewise::cli {

/// The method that is asked for, or one for the symmetry of the matrix and the preconditioner.
solve::Method choose_method(const Settings& settings, bool symmetric);

/// Refuses, before the work of the setup, what the method could not do with its result: throws
/// Failure{usage}.
void check_method(solve::Method method, const Settings& settings);

const char* preconditioner_name(PreconditionerChoice choice);

/// Collective. The matrix as the solve multiplies by it: products outside multigrid take the route
/// of the finest level, too, and blocks of unknowns where they are full.
std::shared_ptr<const Matrix> matrix_of_solve(const std::shared_ptr<const Matrix>& A,
                                              const Settings& settings);

}  // namespace nodewise::cli
