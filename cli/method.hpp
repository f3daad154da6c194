// Which Krylov method and preconditioner the settings come to.
#pragma once

#include <memory>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solve/krylov.hpp"

#include "cli/inputs/system.hpp"
#include "cli/options/settings.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

/// The method that is asked for, or one for the symmetry of the matrix and the preconditioner; that
/// conjugate gradients need positive ones is heeded where the diagonal tells.
solve::Method choose_method(const Settings& settings, const MatrixFacts& matrix);

/// Refuses, before the work of the setup, what the method could not do with its result: throws
/// Failure{usage}.
void check_method(solve::Method method, const Settings& settings);

const char* preconditioner_name(PreconditionerChoice choice);

/// Collective. The matrix as the solve multiplies by it: products outside multigrid take the route
/// of the finest level, too, and blocks of unknowns where they are full. What a hierarchy is yet to
/// choose is direct and point to point.
std::shared_ptr<const Matrix> matrix_of_solve(const std::shared_ptr<const Matrix>& A,
                                              const Settings& settings);

/// Collective. The matrix of a solve over the route and the transport that the hierarchy chose for
/// its finest level, with its exchange; the matrix itself where these are its own.
std::shared_ptr<const Matrix> matrix_as_chosen(const std::shared_ptr<const Matrix>& A,
                                               const amg::Hierarchy<double>& hierarchy,
                                               const Settings& settings);

}  // namespace nodewise::cli
