// How a solve went.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/options.hpp"

namespace nodewise::solve {

/// How a solve ended. Everything but `converged` comes with a diagnosis in the Report.
enum class Outcome {
  converged,
  max_iterations,             ///< the limit was reached while the residual still fell
  stagnated,                  ///< the residual has not fallen for stagnation_window iterations
  diverged,                   ///< the residual grew beyond divergence_factor times the first
  indefinite_matrix,          ///< CG met p.Ap <= 0
  indefinite_preconditioner,  ///< CG met r.Mr <= 0
  inconsistent,               ///< the right-hand side is not in the range of a singular matrix
  not_finite,                 ///< NaN or infinity in the right-hand side, start or iteration
  breakdown                   ///< GMRES cannot extend its basis although not converged
};

/// The snake_case name, as printed in reports.
const char* to_string(Outcome outcome) noexcept;

struct Options {
  double tolerance = 1e-8;    ///< on the true residual: |b - A x| <= tolerance |b|, 2-norms
  int max_iterations = 1000;  ///< counts applications of the preconditioner
  int restart = 50;           ///< GMRES: basis vectors kept
  /// Iterations without any progress that end a solve; 0: never. The residual of CG may stay above
  /// an early value for long while the error falls: 150 iterations for a beam of two materials.
  int stagnation_window = 300;
};

/// The one table behind the command line, JSON and the reference page.
std::span<const Field<Options>> option_fields();

struct Report {
  Outcome outcome = Outcome::max_iterations;
  std::string diagnosis;  ///< what happened and what to try; empty when converged
  std::string method;     ///< "cg" or "gmres"
  int iterations = 0;
  double rhs_norm = 0;  ///< |b|
  double true_relative_residual =
      0;                        ///< |b - A x| / |b|, recomputed from x after the last iteration
  std::vector<double> history;  ///< relative residual norms, [0] before the first iteration
  double seconds = 0;           ///< on this rank

  bool converged() const { return outcome == Outcome::converged; }
};

/// Called on every rank after every iteration with its number and the relative residual norm.
using Observer = std::function<void(int iteration, double relative_residual)>;

}  // namespace nodewise::solve
