// The linear system of `nodewise solve`: matrix, right-hand side and, where known, the solution.
#pragma once

#include <memory>
#include <vector>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/io/read_options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

#include "cli/options/settings.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

using Matrix = matrix::DistMatrix<double>;

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

/// "bcsstk16.mtx.gz" or "laplace27, n = 100".
std::string source_name(const Settings& settings);

/// Collective. What the reports say of the matrix.
MatrixFacts describe_matrix(const LoadedMatrix& loaded, const Settings& settings);

struct System {
  std::shared_ptr<const Matrix> A;
  std::vector<double> b;  ///< this rank's part; of several side by side, row-major
  int n_rhs = 1;
  std::vector<double> known_solution;  ///< empty where the solution is not known
  bool modulo_constants = false;       ///< it is known up to a constant
  RhsKind rhs = RhsKind::ones;
};

/// Collective. Throws Failure{unsuitable_matrix} where A is not square or empty.
void check_shape(const Matrix& A);

/// Collective. Adds the right-hand sides that the settings ask for.
System make_system(std::shared_ptr<const Matrix> A, const Settings& settings);

/// Collective. What multigrid is told of the problem: whether the matrix is symmetric, as
/// describe_matrix() found, and the near null space that the settings name, or the rigid body modes
/// of the coordinates they name; for an aggregation, those of a model problem that has some. Throws
/// Failure: {input_file} for the files' faults, {usage} where both are given or the coordinates do
/// not fit --unknowns.
amg::ProblemInfo<double> make_knowledge(const Matrix& A, bool symmetric, const Settings& settings);

/// Collective. The error of x; nothing where the solution is not known.
std::optional<SolutionError> solution_error(const System& system, std::span<const double> x);

}  // namespace nodewise::cli
