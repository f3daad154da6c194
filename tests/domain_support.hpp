// Placements of ranks on nodes that are divided into domains.
#pragma once

#include <string>
#include <vector>

#include "nodewise/mpi/topology.hpp"

#include "support.hpp"

namespace nodewise::test {

struct DomainMap {
  std::string name;
  mpi::Topology topology;
};

/// Local. The placements of node_maps(), a third of the nodes cut in two domains, a third dealt out
/// to three, and a third whole; only those where some node is divided.
inline std::vector<DomainMap> domain_maps(int n_ranks) {
  std::vector<DomainMap> maps;
  for (const NodeMap& map : node_maps(n_ranks)) {
    const mpi::Topology nodes(map.node_of_rank);
    std::vector<int> domains;
    for (int r = 0; r < n_ranks; ++r) {
      const auto size = nodes.ranks_on(nodes.node(r)).size();
      const std::size_t place = nodes.place_on_node(r);
      const int kind = nodes.node(r) % 3;
      domains.push_back(kind == 0   ? (2 * place < size ? 4 : 1)
                        : kind == 1 ? static_cast<int>(place % 3)
                                    : 0);
    }
    maps.push_back({map.name + ", divided", nodes.with_domains(domains)});
  }
  std::erase_if(maps, [](const DomainMap& map) { return !map.topology.has_domains(); });
  return maps;
}

}  // namespace nodewise::test
