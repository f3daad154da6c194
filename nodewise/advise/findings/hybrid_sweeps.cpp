// Sweeps that need not converge.
#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"
#include "nodewise/base/format_numbers.hpp"

namespace nodewise::advise::found {

namespace {

bool may_be_for_sweeps(solve::Outcome outcome) {
  return outcome == solve::Outcome::max_iterations || outcome == solve::Outcome::stagnated ||
         outcome == solve::Outcome::diverged || outcome == solve::Outcome::breakdown ||
         outcome == solve::Outcome::indefinite_preconditioner;
}

/// Baker, Falgout, Kolev, Yang 2011: sweeps that take the values of other ranks from before are
/// block Jacobi outside, which may amplify errors however many of them are made.
std::vector<Finding> find_hybrid_sweeps(const SolveFacts& solve, const amg::Options& options) {
  const amg::relax::SmootherMethod& sweep = *options.smoother;
  if (sweep.safe_form->empty() || !solve.multigrid || !may_be_for_sweeps(solve.outcome)) return {};
  if (sweep.is_hybrid && solve.parts < 2) return {};
  const std::string text =
      sweep.is_hybrid ? fmt::format(
                            "each of {} ranks or threads sweeps with the values that the others "
                            "had before, and such sweeps need not converge",
                            grouped(solve.parts))
                      : std::string("damped Jacobi sweeps need not converge");
  return {{nullptr, 0, 0, static_cast<double>(solve.parts), text,
           fmt::format("try `smoother {}`, which converges for every symmetric positive "
                       "definite matrix",
                       *sweep.safe_form)}};
}

}  // namespace

const FindingKind& hybrid_sweeps_finding() {
  static const FindingKind kind = {
      {"hybrid_sweeps", "a solve failed under sweeps that need not converge",
       "Baker, Falgout, Kolev, Yang 2011"},
      {.in_system = nullptr, .in_hierarchy = nullptr, .in_solve = find_hybrid_sweeps}};
  return kind;
}

}  // namespace nodewise::advise::found
