// The placement of ranks on nodes and domains: as MPI says, or as a caller says.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nodewise/base/options.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/mpi/settings.hpp"
#include "nodewise/run/deal_cores.hpp"

namespace nodewise::run {

enum class DomainChoice { none, numa, package };

struct PlacementOptions {
  std::string node_map;    ///< such as "0,0,1,1"
  int ranks_per_node = 0;  ///< 0: as MPI says
  DomainChoice domains = DomainChoice::none;
  std::string domain_map;
  int threads = 1;
  BindChoice bind = BindChoice::none;
};

std::span<const Field<PlacementOptions>> placement_fields();

/// Local. One number for each of n_ranks ranks, such as "0,0,1,1". `what` is "node" or "domain",
/// for messages about the option node_map or domain_map. Throws invalid_argument where the list
/// does not fit the ranks.
std::vector<int> parse_map(std::string_view what, std::string_view text, int n_ranks);

/// Collective. A communicator of the ranks of `world` with the settings, and with the placement
/// that the options ask for. Throws invalid_argument or unsupported on every rank where a list does
/// not fit the ranks, or this build cannot find domains.
std::shared_ptr<const mpi::Comm> place(const mpi::Comm& world, const PlacementOptions& placement,
                                       const mpi::CommSettings& communication);

}  // namespace nodewise::run
