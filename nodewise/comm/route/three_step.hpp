// The three-step route: gathered on the node, across the network once a node pair, spread there.
#pragma once

#include <memory>
#include <vector>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/comm/route/node_mapping.hpp"
#include "nodewise/comm/route/planner.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm::route {

/// Local. The part of `rank` in planning the route of Bienz 2018, section 5.4: what the ranks of a
/// node send to another node is gathered on the rank that `mapping` names, each entry once, crosses
/// the network in one message, and is spread by the rank that receives it. A pair that the mapping
/// gives to several ranks is cut into as many equal parts, but no more than there would be direct
/// messages. On-node entries go straight, in the first stage. A plan of three stages.
///
/// Seven rounds of planning. Three cross the network, each in the time of one message: the lowest
/// rank of each node tells that of each node it sends to, is answered, and the entries' own way is
/// told along it. The messages between nodes: two for each pair of nodes, and one for each part.
/// `pattern` and `topology` must outlive the planner.
std::unique_ptr<Planner> three_step(const Pattern& pattern, const mpi::Topology& topology, int rank,
                                    const NodeMapping& mapping = map_by_size);

/// Local. The messages of this rank over the route, as far as they can be told without planning it.
std::vector<StageSizes> three_step_messages(const NodeExchanges& known);

}  // namespace nodewise::comm::route
