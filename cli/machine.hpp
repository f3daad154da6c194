// The machine a solve runs on, and how much memory it has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nodewise/mpi/comm.hpp"

#include "cli/options/settings.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

/// Local. The placement of the virtual ranks, which --node-map or --ranks-per-node must give; with
/// domains where --domain-map does. Throws Failure{usage} where a list does not fit the ranks.
mpi::Topology place_virtual_ranks(const Settings& settings);

/// Collective. The communicator of the work, with the settings, and with the placement that
/// --node-map, --ranks-per-node, --domains or --domain-map asks for. Throws Failure{usage} on every
/// rank where a list does not fit the ranks, or this build cannot find domains.
std::shared_ptr<const mpi::Comm> make_comm(const mpi::Comm& world,
                                           const PlacementOptions& placement,
                                           const mpi::CommSettings& communication);

/// Collective. One allgather of host names.
Machine describe_machine(const mpi::Comm& comm, const Settings& settings);

/// Local. The first line of what the MPI library says of itself.
std::string mpi_library();
std::string mpi_standard();

/// Collective. Peak resident memory of the ranks so far.
MemoryUse measure_memory(const mpi::Comm& comm);

/// Collective on `world`, whose topology is the real one. Throws Failure{memory} on every rank
/// where some node's share of `bytes` exceeds the memory available there.
void check_memory(const mpi::Comm& world, double bytes, const std::string& what);

}  // namespace nodewise::cli
