#include "nodewise/solver/ways_out.hpp"

#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

namespace nodewise::solver {

bool may_do_otherwise(const solve::Report& report, const Options& options) {
  // Factors whose residual is nearly what rounding leaves are not outdone by any iteration.
  constexpr double nearly_solved = 1e-6;
  const bool is_exact = options.method.preconditioner->facts.is_exact;
  if (is_exact && report.true_relative_residual <= nearly_solved) return false;
  switch (report.outcome) {
    case solve::Outcome::max_iterations:
      return !options.has("max_iterations");
    case solve::Outcome::stagnated:
    case solve::Outcome::diverged:
    case solve::Outcome::indefinite_matrix:
    case solve::Outcome::indefinite_preconditioner:
    case solve::Outcome::breakdown:
      return true;
    case solve::Outcome::not_finite:  // not by the right-hand side alone
      return std::isfinite(report.rhs_norm);
    case solve::Outcome::converged:
    case solve::Outcome::inconsistent:
    case solve::Outcome::interrupted:
      break;
  }
  return false;
}

solve::Options impatient(const solve::Options& options, const solve::KrylovMethod& method) {
  constexpr int patience = 60;
  solve::Options hasty = options;
  if (method.minimises_residual && hasty.stagnation_window < 0) hasty.stagnation_window = patience;
  return hasty;
}

std::string why_given_up(const Attempt& attempt) {
  if (attempt.method.empty()) return fmt::format("preset {}: {}", attempt.preset, attempt.why);
  return fmt::format("{} with preset {} gave up ({}) at a residual of {:.1e}, after {}",
                     attempt.method, attempt.preset, attempt.why, attempt.residual,
                     counted(attempt.iterations, "iteration"));
}

}  // namespace nodewise::solver
