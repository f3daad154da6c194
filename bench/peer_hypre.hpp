// The peer: hypre's BoomerAMG as preconditioner of its conjugate gradients, on our matrix and with
// our choices.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

#include "peer.hpp"

namespace nodewise::bench {

/// Initialises hypre while it lives. Between MPI_Init and MPI_Finalize.
class HypreLibrary {
 public:
  HypreLibrary();
  ~HypreLibrary();
  HypreLibrary(const HypreLibrary&) = delete;
  HypreLibrary& operator=(const HypreLibrary&) = delete;
  /// Such as "2.26.0".
  static std::string version();
};

/// A matrix, a right-hand side and a solution held by hypre (IJ interface, ParCSR), the rows split
/// over the same ranks as ours. Failures of hypre's calls are thrown on the rank that sees them.
class HypreSystem {
 public:
  /// Collective. Copies this rank's rows of A, and b; A is not needed afterwards.
  HypreSystem(const matrix::DistMatrix<double>& A, std::span<const double> b);
  ~HypreSystem();
  HypreSystem(const HypreSystem&) = delete;
  HypreSystem& operator=(const HypreSystem&) = delete;

  /// Collective. Builds the hierarchy with the same choices as `options` says for ours (see
  /// docs/performance/method.md for the table) and sets up CG. A second call replaces the first.
  /// `nodal` names the norm of a point's blocks that points are coarsened by, with the number of
  /// hypre's manual (BoomerAMGSetNodal); 0 coarsens each unknown by itself.
  void setup(const amg::Options& options, int nodal = 0);
  /// Collective. Frees the hierarchy.
  void clear();
  /// Collective. Solves from a zero guess until the recurrence's residual norm is below
  /// tolerance |b|; the number of iterations.
  int solve(double tolerance, int max_iterations);

  /// Collective. The same by V-cycles alone, until the residual norm is below tolerance |b|.
  int solve_by_cycles(double tolerance, int max_iterations);

  struct Eigenvalues {
    int iterations = 0;
    std::vector<double> values;  ///< ascending
  };
  /// Collective. The lowest eigenvalues by hypre's LOBPCG with the cycle of setup(), a block of as
  /// many random vectors, until each residual |A x - value x| of |x| = 1 is at most `residual`.
  Eigenvalues lowest_eigenvalues(int pairs, double residual, int max_iterations, int seed);

  /// Local. Copies this rank's part of the solution.
  void solution(std::span<double> x) const;
  /// Collective. |b - A x| / |b| by hypre's own product, for when our matrix is gone.
  double relative_residual() const;

  struct Hierarchy {
    int levels = 0;
    double grid_complexity = 0;      ///< rows of all levels over those of the finest
    double operator_complexity = 0;  ///< the same of nonzeros
    std::vector<PeerLevel> by_level;
    std::vector<double> nonzeros;  ///< of each level
  };
  /// Collective. What setup() built, on the nodes of the matrix.
  Hierarchy hierarchy() const;
  /// Local. This rank's rows of a level's matrix.
  std::vector<matrix::Triplet<double>> rows_of_level(int level) const;

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

/// The step of hypre's setup that makes a coarse matrix sparser.
struct HypreNonGalerkin {
  const matrix::DistMatrix<double>& coarse;  ///< P^T A P
  const matrix::DistMatrix<double>& AP;
  std::span<const LocalIndex> coarse_rows;  ///< of AP
  double strong_threshold = 0;              ///< as hypre's setup passes it
  double max_row_sum = 0;
  double tolerance = 0;
};

/// Collective. This rank's rows of what the step leaves.
std::vector<matrix::Triplet<double>> left_by_hypre(const HypreNonGalerkin& step);

}  // namespace nodewise::bench
