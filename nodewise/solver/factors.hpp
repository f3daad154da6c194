// The preconditioner `direct`: a way out where multigrid is none.
#pragma once

#include "nodewise/solve/factors.hpp"
#include "nodewise/solver/preconditioner.hpp"

namespace nodewise::solver {

using solve::factorize;
using solve::FactorOptions;
using solve::has_mumps;

/// The preconditioner `direct`.
const PreconditionerMethod& direct_preconditioner();

}  // namespace nodewise::solver
