// The rule of `automatic`, common to the collectives.
#pragma once

#include <cstdint>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/settings.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::mpi::collectives {

/// Local. Whether the ranks of a node can share out something: several nodes, one with several.
inline bool can_share_out(const Topology& topology) {
  return topology.n_nodes() > 1 && topology.n_ranks() > topology.n_nodes();
}

/// Local. Whether the node-aware algorithm is to be used for data of so many bytes.
inline bool uses_node_aware(const Collective& setting, const Topology& topology, Offset bytes,
                            Offset most_bytes) {
  if (!setting.is_automatic()) return setting->is_node_aware;
  return can_share_out(topology) && bytes <= most_bytes;
}

/// Local. A number that tells settings apart.
inline std::uint64_t fingerprint(const Collective& setting) {
  return setting.is_automatic() ? 0 : 1 + CollectiveMethod::family().index_of(setting.name());
}

}  // namespace nodewise::mpi::collectives
