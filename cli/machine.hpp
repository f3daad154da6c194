// The machine a solve runs on, and how much memory it has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nodewise/mpi/comm.hpp"

#include "cli/options/settings.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

/// Collective. One allgather of host names.
Machine describe_machine(const mpi::Comm& comm, const Settings& settings);

/// Collective. Peak resident memory of the ranks so far.
MemoryUse measure_memory(const mpi::Comm& comm);

/// Collective on `world`, whose topology is the real one. Throws Failure{memory} on every rank
/// where some node's share of `bytes` exceeds the memory available there.
void check_memory(const mpi::Comm& world, double bytes, const std::string& what);

}  // namespace nodewise::cli
