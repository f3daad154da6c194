// The system that a command works on: matrix, right-hand sides, and what is known besides.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/io/read_options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solver/method_choice.hpp"
#include "nodewise/solver/problem.hpp"
#include "nodewise/solver/right_hand_side.hpp"

#include "cli/options/settings.hpp"

namespace nodewise::cli {

using Matrix = matrix::DistMatrix<double>;
using solver::check_shape;

/// The name of the standard input on the command line, and what messages call it.
inline constexpr const char* standard_input_name = "-";
inline constexpr const char* standard_input_title = "standard input";

/// A matrix and what its file held; a summary of nothing for a model problem.
struct LoadedMatrix {
  std::shared_ptr<const Matrix> A;
  io::ReadSummary summary;
};

/// Collective. The matrix that the settings name, from a file or made in place. Throws Failure:
/// {memory} before anything large is allocated where it cannot fit, {input_file} for the file's
/// faults. `world` has the true topology, `comm` that of the work.
LoadedMatrix load_matrix(const mpi::Comm& world, std::shared_ptr<const mpi::Comm> comm,
                         const Settings& settings);

/// Collective. The matrix of --mass, laid out as A. Throws Failure{input_file} for the file's
/// faults, and where its size is another.
LoadedMatrix load_mass(const Matrix& A, const Settings& settings);

/// "bcsstk16.mtx.gz" or "laplace27, n = 100".
std::string source_name(const Settings& settings);

/// What the settings say of the matrix.
run::MatrixSummary matrix_source(const LoadedMatrix& loaded, const Settings& settings);

/// Collective. What the reports say of the matrix.
run::MatrixSummary describe_matrix(const LoadedMatrix& loaded, const Settings& settings);

/// Collective. The right-hand sides that the settings ask for.
solver::RightHandSides make_right_hand_sides(const Matrix& A, const Settings& settings);

/// What the settings say of the problem besides its matrix; vectors are read where they are needed.
/// It refers to the settings.
solver::Problem make_problem(const LoadedMatrix& loaded, const Settings& settings);

/// Collective. The x to start from: zero, or what the settings name. Throws Failure{input_file}.
std::vector<double> first_guess(const Matrix& A, const solver::RightHandSides& rhs,
                                const Settings& settings);

/// Collective. What multigrid is told of the problem: whether the matrix is symmetric, as
/// describe_matrix() found, and the near null space that the settings name, or the rigid body modes
/// of the coordinates they name; for an aggregation, those of a model problem that has some. Throws
/// Failure: {input_file} for the files' faults, {usage} where both are given or the coordinates do
/// not fit --unknowns.
amg::ProblemInfo<double> make_knowledge(const Matrix& A, bool symmetric, const Settings& settings);

}  // namespace nodewise::cli
