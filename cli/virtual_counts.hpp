// Counting what the ranks of a machine that is not at hand would send.
#pragma once

#include <functional>
#include <string>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/mpi/topology.hpp"

#include "cli/inspect_record.hpp"
#include "cli/settings.hpp"
#include "cli/system.hpp"

namespace nodewise::cli {

/// A machine and the routes to count for, as the options say.
struct VirtualMachine {
  mpi::Topology topology;
  std::vector<comm::Route> routes;
};

/// Local. Throws Failure{usage} where the options do not fit each other.
VirtualMachine virtual_machine(const Settings& settings);

/// Told of every operation that has been counted: its level, name and seconds.
using CountObserver = std::function<void(std::size_t level, Operation operation, double seconds)>;

/// Local, on one rank. Counts for every level of a hierarchy made for so many virtual ranks.
VirtualRecord count_virtually(const amg::Hierarchy<double>& hierarchy,
                              const VirtualMachine& machine, const CountObserver& observe);
/// Likewise for a matrix alone, square or not.
VirtualRecord count_virtually(const Matrix& A, const VirtualMachine& machine,
                              const CountObserver& observe);

}  // namespace nodewise::cli
