// A problem with its rows where a partition puts them: on the ranks at hand, or on virtual ones.
#pragma once

#include <optional>
#include <vector>

#include "nodewise/predict/predict.hpp"

namespace nodewise::predict {

/// Collective. The problem with its rows, and what is known of them, on the ranks of its
/// communicator, and in the order, that its options say; or, for a matrix on one rank, in
/// the order of the virtual ranks of `machine`, which info.virtual_starts and info.virtual_topology
/// then say. `costs` may be null. Throws what partition::Arrangement does.
Problem with_placed_rows(Problem problem, const VirtualMachine* machine,
                         const model::Machine* costs = nullptr);

}  // namespace nodewise::predict
