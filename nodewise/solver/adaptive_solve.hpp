// A solve during which coarse matrices get entries back that they lost.
#pragma once

#include <functional>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solver/solve_all.hpp"

namespace nodewise::solver {

/// Local. Whether the hierarchy has lost entries, which may come back.
bool has_lost_entries(const amg::Hierarchy<double>& hierarchy);

/// Solves, from the x that there is, with these options and this observer: once, or again.
using SolveOnce = std::function<std::vector<solve::Report>(const solve::Options& options,
                                                           const solve::Observer& observe)>;

/// Collective. Solves for one right-hand side by setup.method, or for several at once. Where the
/// hierarchy asks for that (SparsificationOptions::adaptive) it looks at the (largest) residual
/// after every few iterations (Bienz 2018, algorithm 4.4): where it fell too slowly since the last
/// look, the hierarchy gets entries back. A method that bears another preconditioner goes on; with
/// others, and where the norm that is tested has the preconditioner in it, `once` is called again,
/// which begins from the x that it has, and it costs an allreduce at every look. Whether it is
/// asked for or not: where the method finds that the preconditioner is not positive definite,
/// entries come back on the first level that lost some, and it begins again. The reports are of all
/// iterations; `events` gets what came back. Where a solve fails, its diagnosis names the first
/// level that lacks entries.
std::vector<solve::Report> solve_with_lost_entries(const SolveSetup& setup, const SolveOnce& once,
                                                   const solve::Observer& observe,
                                                   std::vector<EntriesBack>& events);

}  // namespace nodewise::solver
