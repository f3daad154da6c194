// A level whose rows may be moved, as the ranks that have it know it, or one process for all.
#pragma once

#include <memory>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/amg/redistribute/redistribution_decision.hpp"

namespace nodewise::amg {

/// Local. Level `level`, whose matrix is A, and P the interpolation to the level above, null of the
/// finest; both must outlive it, and take the direct route. Costs are those of options.machine, or
/// of a short look at the network where there are several nodes (routing/network_probe.hpp).
template <class T>
std::unique_ptr<NextLevel> next_level(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                                      const std::shared_ptr<const matrix::DistMatrix<T>>& P,
                                      const Options& options, int level);

/// Local. Likewise of the virtual ranks of `above`, whose rows of the level begin at `starts`.
/// Throws unsupported where there is no machine.
template <class T>
std::unique_ptr<NextLevel> next_virtual_level(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                                              const std::shared_ptr<const matrix::DistMatrix<T>>& P,
                                              const Options& options, int level,
                                              std::vector<GlobalIndex> starts,
                                              const ProblemInfo<T>& above);

}  // namespace nodewise::amg
