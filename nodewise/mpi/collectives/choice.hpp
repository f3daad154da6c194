// The rules of `automatic`, common to the collectives.
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

/// Local. The method that is set; by itself the node-aware one for data of at most `most_bytes`
/// (0: none) where ranks can share out something, otherwise MPI's own.
template <class Method>
const Method& chosen(const Choice<Method>& setting, const Topology& topology, Offset bytes,
                     Offset most_bytes) {
  if (!setting.is_automatic()) return *setting;
  const bool is_node_aware = can_share_out(topology) && most_bytes > 0 && bytes <= most_bytes;
  return Method::family().find(is_node_aware ? "node_aware" : "mpi");
}

/// Local. A number that tells settings apart.
template <class Method>
std::uint64_t fingerprint(const Choice<Method>& setting) {
  return setting.is_automatic() ? 0 : 1 + Method::family().index_of(setting.name());
}

}  // namespace nodewise::mpi::collectives
