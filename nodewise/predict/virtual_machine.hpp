// The machine that counts and predictions are for: so many ranks, placed on nodes.
#pragma once

#include <vector>

#include "nodewise/comm/route/route.hpp"
#include "nodewise/mpi/topology.hpp"
#include "nodewise/partition/placement_method.hpp"
#include "nodewise/predict/options.hpp"
#include "nodewise/run/placement.hpp"

namespace nodewise::predict {

/// A machine and the routes of interest.
struct VirtualMachine {
  mpi::Topology topology;
  std::vector<comm::Route> routes;
};

/// Local. As the options say; without a node_map the placement of parts deals the ranks; node_map
/// or ranks_per_node must place the ranks. Throws invalid_argument where the options do not fit
/// each other.
VirtualMachine virtual_machine(const VirtualOptions& options,
                               const run::PlacementOptions& placement,
                               const partition::Placement& dealing = "none");

}  // namespace nodewise::predict
