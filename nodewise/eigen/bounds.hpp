// How far the eigenvalues are from Ritz values, by residuals.
#pragma once

#include <optional>
#include <span>

#include "nodewise/eigen/eigenpairs.hpp"

namespace nodewise::eigen {

/// Local. Sets quadratic_bound of pairs whose value and bound are known, ascending. Values whose
/// intervals, value +- bound, touch each other are taken together; the gap to the intervals beside
/// them divides the sum of the squares of their bounds. `beyond` is below all eigenvalues that are
/// not among the pairs.
void set_quadratic_bounds(std::span<Eigenpair> pairs, std::optional<double> beyond);

}  // namespace nodewise::eigen
