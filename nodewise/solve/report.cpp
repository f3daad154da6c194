#include "nodewise/solve/report.hpp"

#include "nodewise/solve/method.hpp"

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
    case Outcome::interrupted:
      return "interrupted";
  }
  return "unknown";
}

const char* to_string(ResidualNorm norm) noexcept {
  switch (norm) {
    case ResidualNorm::unpreconditioned:
      return "unpreconditioned";
    case ResidualNorm::preconditioned:
      return "preconditioned";
    case ResidualNorm::natural:
      return "natural";
  }
  return "unknown";
}

std::span<const Field<Options>> option_fields() {
  static const std::vector<Field<Options>> fields = {
      field("tolerance", &Options::tolerance,
            "stop when the norm of the residual b - A x, computed from x, is at most this times "
            "that of b",
            0.0, 1.0)
          .affecting(Affects::iterations | Affects::eigenpairs)
          .common('t'),
      field("absolute_tolerance", &Options::absolute_tolerance,
            "stop also when that norm is at most this, whatever b is", 0.0),
      field("norm", &Options::norm,
            "the norm of the residual r that is tested: the 2-norm of r itself, that of M r with "
            "the preconditioner M, or the root of r.Mr; " +
                names_by_norms(false) + " know the first only",
            {"unpreconditioned", "preconditioned", "natural"}),
      field("max_iterations", &Options::max_iterations,
            "the most iterations; each applies the preconditioner once, of bicgstab twice", 0)
          .affecting(Affects::iterations | Affects::eigenpairs)
          .common(),
      field(
          "stagnation_window", &Options::stagnation_window,
          "give up after this many iterations in which the residual has not fallen; 0: never; -1: "
          "half of `max_iterations`, but 300 at least",
          -1),
  };
  return fields;
}

}  // namespace nodewise::solve
