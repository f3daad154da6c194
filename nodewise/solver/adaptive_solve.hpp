// A solve during which coarse matrices get entries back that they lost.
#pragma once

#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solver/solve_all.hpp"

namespace nodewise::solver {

/// Collective. Whether the hierarchy asks for that (SparsificationOptions::adaptive), and has lost
/// entries.
bool is_adaptive(const amg::Hierarchy<double>& hierarchy);

/// Collective. Solves A x = b by setup.method, and looks at the residual after every few iterations
/// (Bienz 2018, algorithm 4.4). Where it fell too slowly since the last look, the hierarchy gets
/// entries back, and the method begins again from the x that it has, since its preconditioner is
/// another then. The report is one of all iterations; `events` gets what came back. A hierarchy
/// without lost entries is left as it is. Costs an allreduce at every look.
solve::Report solve_adaptively(const SolveSetup& setup, const solve::Operator<double>& A,
                               std::span<const double> b, std::span<double> x,
                               const solve::Observer& observe, std::vector<EntriesBack>& events);

}  // namespace nodewise::solver
