// Which Krylov method and preconditioner the options come to, and how the matrix travels.
#pragma once

#include <memory>
#include <optional>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/run/records.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::solver {

using Matrix = matrix::DistMatrix<double>;

/// Collective. What is said of the matrix, beside what the caller knows of where it came from.
run::MatrixSummary summarize(const Matrix& A, run::MatrixSummary known = {});

/// Collective. Throws unsuitable_matrix where A is not square or empty.
void check_shape(const Matrix& A);

/// Local. What `redistribution` is where it is not given: left to costs where ranks are on several
/// nodes.
amg::Redistribution usual_redistribution(const mpi::Topology& topology);

/// Local. Transports are chosen unless they are given. So are routes, and on how many ranks coarse
/// levels are, where the ranks are on several nodes, unless something about them is given, or the
/// nodes are: there is no network to look at between those.
void choose_communication(const mpi::Comm& comm, Options& options);

/// Local, the same on every rank. Where a device is to set levels up: a method and its parts for
/// which it can, unless they are given, before a preset chooses others. Returns what was set; it is
/// what the preset `card` sets, where that follows.
NamedValues choose_for_setup_on_device(Options& options);

/// Local, the same on every rank. Sets what a device needs and was not given: a smoother that it
/// has, all levels on all ranks; nothing, and no record, where there is no device. Throws
/// invalid_argument where the preconditioner is no multigrid.
std::optional<DeviceRecord> choose_for_device(Options& options);

/// Local. The method that is asked for, or one for the symmetry of the matrix and the
/// preconditioner; that conjugate gradients need positive ones is heeded where the diagonal tells.
Choice<solve::KrylovMethod> choose_method(const Options& options, const run::MatrixSummary& matrix);

/// Local. Refuses, before the work of the setup, what the method could not do with its result:
/// throws invalid_argument.
void check_method(const solve::KrylovMethod& method, const Options& options);

/// Collective. The matrix as the solve multiplies by it: products outside multigrid take the route
/// of the finest level, too, and blocks of unknowns where they are full. What a hierarchy is yet to
/// choose is direct and point to point.
std::shared_ptr<const Matrix> matrix_of_solve(const std::shared_ptr<const Matrix>& A,
                                              const Options& options);

/// Collective. The matrix of a solve over the route and the transport that the hierarchy chose for
/// its finest level, with its exchange; the matrix itself where these are its own.
std::shared_ptr<const Matrix> matrix_as_chosen(const std::shared_ptr<const Matrix>& A,
                                               const amg::Hierarchy<double>& hierarchy,
                                               const Options& options);

}  // namespace nodewise::solver
