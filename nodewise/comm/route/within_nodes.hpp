// The third level: what travels inside a node is routed once more, between the domains of the node.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/planner.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm::route {

/// Makes one rank's part in planning a route, such as two_step().
using MakePlanner = std::function<std::unique_ptr<Planner>(
    const Pattern& pattern, const mpi::Topology& topology, int rank)>;

/// Local. The part of `rank` in planning the route of `outer` with its on-node messages routed once
/// more. The messages that the ranks of a node exchange in a stage are an irregular exchange of
/// their own, over pools instead of vectors: `inner` plans it with topology.domains() in the place
/// of the nodes, and its stages take the place of the stage. What leaves the node is sent as
/// before, in the first of them.
/// `stages` are those stages of the outer plan in which any rank may have on-node messages; others
/// are left as they are. All are planned at once, so that planning takes as many rounds more as one
/// of the inner planners, all of which stay on the node as sparse exchanges there. `topology` and
/// the outer planner's pattern must outlive the planner.
/// Source: the future work named in Bienz 2018, section 5.6.
std::unique_ptr<Planner> within_nodes(std::unique_ptr<Planner> outer,
                                      std::vector<std::size_t> stages, MakePlanner inner,
                                      const mpi::Topology& topology, int rank);

}  // namespace nodewise::comm::route
