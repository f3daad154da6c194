// When a solve that does not do is made by another preset.
#pragma once

#include <string>

#include "nodewise/solver/record.hpp"

namespace nodewise::solver {

/// Local. Whether another way may do better: the solve failed by itself, and not by a limit that
/// was given, by the observer or by the system.
bool may_do_otherwise(const solve::Report& report, const Options& options);

/// Local. The options of a solve that something can be done about: a method that minimises the
/// residual ends after 60 iterations without progress, unless a number was given.
solve::Options impatient(const solve::Options& options, const solve::KrylovMethod& method);

/// "gmres with preset convection stagnated at a residual of 1.4e-01, after 60 iterations"
std::string why_given_up(const Attempt& attempt);

}  // namespace nodewise::solver
