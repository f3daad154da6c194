// Which eigenpairs are looked for, and how.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"
#include "nodewise/eigen/method.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise::eigen {

/// The end of the spectrum that is looked for.
enum class Which { smallest, largest };

/// The snake_case name, as in option_fields().
const char* to_string(Which which) noexcept;

struct Options {
  Choice<EigenMethod> eigensolver = "auto";
  int pairs = 1;  ///< so many eigenpairs
  Which which = Which::smallest;
  int start_seed = 0;  ///< of the random vectors that are begun with
  /// A pair has converged when the norm of A x - lambda B x is at most this times the sum of the
  /// norms of A and lambda B (Report::norm) times that of x. Range as in solve::Options.
  double tolerance = solve::Options{}.tolerance;
  int max_iterations = solve::Options{}.max_iterations;
};

/// All but the last two, which front ends have from solve::option_fields().
std::span<const Field<Options>> option_fields();

}  // namespace nodewise::eigen
