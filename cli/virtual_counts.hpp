// Counting what the ranks of a machine that is not at hand would send.
#pragma once

#include "nodewise/amg/hierarchy.hpp"

#include "cli/inputs/system.hpp"
#include "cli/inspect_record.hpp"
#include "cli/virtual_levels.hpp"

namespace nodewise::cli {

/// Local, on one rank. Counts for every level of a hierarchy made for so many virtual ranks.
VirtualRecord count_virtually(const amg::Hierarchy<double>& hierarchy,
                              const VirtualMachine& machine, const CountObserver& observe);
/// Likewise for a matrix alone, square or not.
VirtualRecord count_virtually(const Matrix& A, const VirtualMachine& machine,
                              const CountObserver& observe);

}  // namespace nodewise::cli
