// Plans inside plans: a stage of one as an exchange of its own, and what replaces it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm::route {

/// Local and pure. Returns what `rank` exchanges with ranks of its node in stage `s` of its plan,
/// as a pattern. Owned are the entries in its pool before the stage; ghosts are those that the
/// on-node messages of the stage bring, in their order.
Pattern on_node_pattern(const Plan& plan, std::size_t s, const mpi::Topology& topology, int rank);

/// The replacement of a stage's on-node messages: a plan of their on_node_pattern().
struct Replacement {
  std::size_t stage;
  Plan plan;
};

/// Local and pure. The plan of `rank` with the on-node messages of some stages (ascending)
/// replaced; its messages to other nodes are sent in the first stage of the replacement.
Plan splice(const Plan& plan, std::span<const Replacement> replacements,
            const mpi::Topology& topology, int rank);

}  // namespace nodewise::comm::route
