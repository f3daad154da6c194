// Counting what the ranks of a machine that is not at hand would send.
#pragma once

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/predict/inspection.hpp"
#include "nodewise/predict/virtual_levels.hpp"

namespace nodewise::predict {

/// Local, on one rank. Counts for every level of a hierarchy made for so many virtual ranks.
VirtualCounts count_virtually(const amg::Hierarchy<double>& hierarchy,
                              const VirtualMachine& machine, const CountObserver& observe);
/// Likewise for a matrix alone, whose rows are spread as `rows` says; square or not.
VirtualCounts count_virtually(const Matrix& A, std::span<const GlobalIndex> rows,
                              const VirtualMachine& machine, const CountObserver& observe);

}  // namespace nodewise::predict
