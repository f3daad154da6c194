// Solving for several right-hand sides.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::solver {

/// Whether so many right-hand sides are solved for together: by a method that has such a
/// form; the others take one after another.
bool solves_at_once(const solve::KrylovMethod& method, int n_rhs);

/// Some of the right-hand sides, which are solved for together.
struct RhsGroup {
  int first = 0;
  int count = 1;
  int of = 1;  ///< so many right-hand sides
};

/// Called before each group; returns what is to hear of its iterations.
using GroupObserver = std::function<solve::Observer(const RhsGroup& group)>;

/// The system without its right-hand sides.
struct SolveSetup {
  std::shared_ptr<const matrix::DistMatrix<double>> A;
  const solve::Operator<double>* preconditioner = nullptr;
  amg::Hierarchy<double>* hierarchy = nullptr;  ///< that is the preconditioner, or null
  Choice<solve::KrylovMethod> method;
  solve::Options options;
  offload::DeviceSolver* device = nullptr;  ///< that solves in place of the host, or null
};

/// Collective. Solves A X = B, n_rhs right-hand sides side by side; B and X: this rank's parts,
/// row-major; X has the initial guesses. Up to solve::max_block_width columns are solved for at
/// once, and of more as many groups as that makes. One report for each. The hierarchy may get
/// entries back (solve_with_lost_entries()), of which `events` tell.
std::vector<solve::Report> solve_all(const SolveSetup& setup, std::span<const double> B,
                                     std::span<double> X, int n_rhs, const GroupObserver& observe,
                                     std::vector<EntriesBack>& events);

}  // namespace nodewise::solver
