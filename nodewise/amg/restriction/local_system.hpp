// Small dense systems that may be singular.
#pragma once

#include <span>

namespace nodewise::amg::restriction {

/// Local. Replaces b by the x with B x = b, B by columns, b.size() of them; overwrites both. Where
/// B is singular, or nearly so, x is the shortest that comes closest, equations and unknowns scaled
/// by their largest coefficients, and zero where that is not finite.
void solve_local(std::span<double> B, std::span<double> b);

}  // namespace nodewise::amg::restriction
