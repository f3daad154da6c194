// The rule of `automatic`, common to the collectives.
#pragma once

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/settings.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::mpi::collectives {

/// Local. Whether the ranks of a node can share out something: several nodes, one with several.
inline bool can_share_out(const Topology& topology) {
  return topology.n_nodes() > 1 && topology.n_ranks() > topology.n_nodes();
}

/// Local. Whether the node-aware algorithm is to be used for data of so many bytes.
inline bool uses_node_aware(Collective setting, const Topology& topology, Offset bytes,
                            Offset most_bytes) {
  if (setting != Collective::automatic) return setting == Collective::node_aware;
  return can_share_out(topology) && bytes <= most_bytes;
}

}  // namespace nodewise::mpi::collectives
