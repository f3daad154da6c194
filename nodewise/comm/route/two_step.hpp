// The two-step route: every rank sends what a node needs of its entries to one rank there.
#pragma once

#include <memory>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/planner.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm::route {

/// Local. The part of `rank` in planning the route of Bienz 2018, chapter 7.3: each entry that a
/// node needs crosses the network once, straight from its owner to the owner's corresponding rank
/// on that node (the one with the same place on its node, taken modulo the ranks there), which
/// spreads it. On-node entries go straight, in the first stage. A plan of two stages.
///
/// Three rounds of planning, of which one crosses the network: each rank tells those of its node
/// through which entries will come for it who will send them, so that all know their partners when
/// the entries' own way is told along it. As many messages between nodes as the plan has.
/// `pattern` and `topology` must outlive the planner.
std::unique_ptr<Planner> two_step(const Pattern& pattern, const mpi::Topology& topology, int rank);

}  // namespace nodewise::comm::route
