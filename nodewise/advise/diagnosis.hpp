// What stands in the way of a fast solve, found in a hierarchy and a system, as data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise::advise {

enum class FindingKind {
  stalled_coarsening,         ///< a level keeps most of its rows, or is the last although large
  operator_complexity,        ///< the coarse matrices have many times the entries of the finest
  near_zero_diagonal,         ///< rows whose diagonal entry is small against the others
  negative_diagonal,          ///< rows with a negative one, all rows or a few
  positive_couplings,         ///< large entries off the diagonal of the diagonal's sign
  null_space,                 ///< a vector that the matrix maps to zero
  inconsistent_rhs,           ///< a right-hand side that is not in the range
  indefinite,                 ///< a symmetric matrix that is neither positive nor negative definite
  undeclared_unknowns,        ///< blocks of unknowns that the options do not know of
  nonsymmetric_matrix,        ///< under a method for symmetric ones
  indefinite_preconditioner,  ///< found in the solve
  chebyshev_nonsymmetric,     ///< a polynomial for real eigenvalues where they are complex
  hybrid_sweeps               ///< a solve failed under sweeps that need not converge
};

/// The snake_case name, as printed in reports.
const char* to_string(FindingKind kind) noexcept;

struct Finding {
  FindingKind kind = FindingKind::stalled_coarsening;
  int level = 0;
  GlobalIndex count = 0;  ///< rows, or 0 where it is nothing to be counted
  double magnitude = 0;   ///< the ratio that was found too large or small; of the kind
  std::string text;       ///< what was found
  std::string advice;     ///< what to try
};

/// What one level's rows say.
struct LevelFacts {
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
  GlobalIndex near_zero_diagonals = 0;  ///< |a_ii| below 1e-8 times the sum of the other |a_ij|
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
};

/// Collective. A pass over the matrix of each level, and one allreduce for all of them.
template <class T>
SystemFacts hierarchy_facts(const amg::Hierarchy<T>& hierarchy);
/// The same for a matrix without a hierarchy.
template <class T>
SystemFacts matrix_facts(const std::shared_ptr<const matrix::DistMatrix<T>>& A);

/// Collective. Whether the constant vector and the given ones are null vectors, and what part they
/// have in b; of several right-hand sides, side by side, in that in which it is largest, whatever
/// the units. A pass over the matrix and two allreduces; with given vectors an exchange.
template <class T>
std::vector<NullVectorFacts> null_vector_facts(const matrix::DistMatrix<T>& A,
                                               const amg::NearNullSpace<T>& given,
                                               std::span<const T> b, int n_rhs = 1);

/// Local; a function of its arguments alone. In the order of the kinds, finest level first. No
/// advice names an option that is in force already.
std::vector<Finding> findings(const SystemFacts& facts, const amg::Options& options);

/// What the end of a solve is judged by.
struct SolveFacts {
  solve::Outcome outcome = solve::Outcome::converged;
  bool multigrid = false;  ///< whether the options are those of the preconditioner
  int parts = 1;           ///< ranks times threads, between which sweeps take old values
};

/// Local. What the end of a solve says.
std::vector<Finding> findings(const SolveFacts& solve, const amg::Options& options);

/// Collective. findings() of hierarchy_facts().
template <class T>
std::vector<Finding> diagnose(const amg::Hierarchy<T>& hierarchy, const amg::Options& options);

}  // namespace nodewise::advise
