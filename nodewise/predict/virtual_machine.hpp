// The machine that counts and predictions are for: so many ranks, placed on nodes.
#pragma once

#include <vector>

#include "nodewise/amg/options.hpp"
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

/// Local. What `redistribution` is on virtual ranks where it is not given: as of a solve there
/// (solver::usual_redistribution()), but none where nodes are not filled one after the other, since
/// levels of such virtual ranks cannot be moved.
amg::Redistribution usual_redistribution(const mpi::Topology& topology);
/// Local. Where costs decide on ranks, exchanges may take every route.
amg::Options with_every_route(amg::Options options);

}  // namespace nodewise::predict
