// What findings start from: numbers of a system, and of the end of a solve.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/solve/method.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise::advise {

/// Below this fraction of the sum of the other |a_ij| of its row a diagonal entry is next to none.
inline constexpr double near_zero_diagonal = 1e-8;

/// What one level's rows say.
struct LevelFacts {
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
  GlobalIndex near_zero_diagonals = 0;  ///< by near_zero_diagonal
  /// Of these, the rows whose |a_ij| are all at most sqrt |a_ii a_jj|, as in a badly scaled
  /// positive definite matrix.
  GlobalIndex small_rows = 0;
  GlobalIndex negative_diagonals = 0;
  /// Rows whose largest entry off the diagonal with the diagonal's sign is half of the largest of
  /// all at least.
  GlobalIndex positive_rows = 0;
  /// Rows whose entries of the other sign are all smaller than that half.
  GlobalIndex one_signed_rows = 0;
};

/// A vector that may be in the null space.
struct NullVectorFacts {
  int vector = -1;         ///< of the near null space that is given; -1: the constant one
  double smallness = 1;    ///< |A v| / | |A| |v| |
  double part_of_rhs = 0;  ///< |v.b| / (|v| |b|)
};

/// What a diagnosis starts from; the same on every rank.
struct SystemFacts {
  std::vector<LevelFacts> levels;
  std::string coarse_solver;  ///< of the last level; empty where there is no hierarchy
  int found_unknowns = 1;     ///< in the blocks of the finest matrix
  std::vector<NullVectorFacts> null_vectors;
  std::optional<bool> symmetric;                ///< the finest matrix, where that is known
  double asymmetry = 0;                         ///< as in ProblemFacts, where it is known
  const solve::KrylovMethod* krylov = nullptr;  ///< of the solve, where one is to follow

  bool has_hierarchy() const { return !coarse_solver.empty(); }
};

/// What the end of a solve is judged by.
struct SolveFacts {
  solve::Outcome outcome = solve::Outcome::converged;
  bool multigrid = false;  ///< whether the options are those of the preconditioner
  int parts = 1;           ///< ranks times threads, between which sweeps take old values
};

}  // namespace nodewise::advise
