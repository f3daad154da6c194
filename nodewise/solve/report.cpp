#include "nodewise/solve/report.hpp"

namespace nodewise::solve {

const char* to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::converged:
      return "converged";
    case Outcome::max_iterations:
      return "max_iterations";
    case Outcome::stagnated:
      return "stagnated";
    case Outcome::diverged:
      return "diverged";
    case Outcome::indefinite_matrix:
      return "indefinite_matrix";
    case Outcome::indefinite_preconditioner:
      return "indefinite_preconditioner";
    case Outcome::inconsistent:
      return "inconsistent";
    case Outcome::not_finite:
      return "not_finite";
    case Outcome::breakdown:
      return "breakdown";
  }
  return "unknown";
}

std::span<const Field<Options>> option_fields() {
  static const std::vector<Field<Options>> fields = {
      field("tolerance", &Options::tolerance,
            "stop when the 2-norm of the true residual b - A x is at most this times that of b",
            0.0, 1.0),
      field("max_iterations", &Options::max_iterations,
            "the most iterations, counted as applications of the preconditioner", 0),
      field("restart", &Options::restart, "GMRES: basis vectors kept before a restart", 1, 10000),
      field("stagnation_window", &Options::stagnation_window,
            "give up after this many iterations in which the residual has not fallen; 0: never", 0),
  };
  return fields;
}

}  // namespace nodewise::solve
