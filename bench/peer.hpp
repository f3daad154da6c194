// What is compared: solvers of one system, each with choices of its own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/amg/options.hpp"

#include "problem.hpp"

namespace nodewise::bench {

/// A system that all solve, and how far: |b - A x| <= tolerance |b|.
struct System {
  std::shared_ptr<const Matrix> A;
  std::vector<double> b;
  double tolerance = 1e-8;
  int max_iterations = 1000;
};

/// What is known of a level of a hierarchy.
struct PeerLevel {
  int active_ranks = 0;                ///< that own rows
  std::int64_t messages_off_node = 0;  ///< of all ranks in one product with its matrix
};

/// A solver with its choices, conjugate gradients preconditioned by one cycle of multigrid. It may
/// copy the system when it is made; everything that is built from that is part of setup().
class Peer {
 public:
  virtual ~Peer() = default;
  /// Collective. Builds the hierarchy anew.
  virtual void setup() = 0;
  /// Collective. Solves from a zero guess until its own stopping test is met with this tolerance;
  /// the number of iterations.
  virtual int solve(double tolerance, int max_iterations) = 0;
  /// Local. Copies this rank's part of the solution.
  virtual void solution(std::span<double> x) = 0;
  /// Collective. Frees the hierarchy.
  virtual void clear() = 0;
  /// Collective. Nonzeros of all levels over those of the finest, after setup(); 0 where unknown.
  virtual double operator_complexity() const = 0;
  /// Collective. After setup(); empty where unknown.
  virtual std::vector<PeerLevel> levels() const { return {}; }
};

/// Collective. Ours, with these options.
std::unique_ptr<Peer> make_nodewise(const System& system, const amg::Options& options);
/// Collective. Ours as `nodewise solve` has it where nothing but these options is given: setup()
/// examines the matrix and chooses a preset by that, and looks at the network where the options
/// leave a choice to its costs.
std::unique_ptr<Peer> make_nodewise(const System& system, const std::vector<NamedValue>& given);
/// Collective. hypre's BoomerAMG with the choices that stand for these options; `nodal` as in
/// HypreSystem::setup().
std::unique_ptr<Peer> make_hypre(const System& system, const amg::Options& options, int nodal = 0);
/// Collective. PETSc's GAMG with its defaults but for the options in `text`, in PETSc's syntax; it
/// is told how many unknowns a point has.
std::unique_ptr<Peer> make_petsc(const System& system, const std::string& text, int unknowns);
/// Collective. AMGCL's smoothed aggregation over the ranks with its defaults, SPAI-0 relaxation.
std::unique_ptr<Peer> make_amgcl(const System& system);

/// What a library needs while it is used, between MPI_Init and MPI_Finalize.
std::shared_ptr<void> start_hypre();
std::shared_ptr<void> start_petsc();

}  // namespace nodewise::bench
