// The cycle of levels that were set up on a device.
#pragma once

#include <string>
#include <vector>

#include "nodewise/offload/cycle.hpp"
#include "nodewise/offload/setup_levels.hpp"

namespace nodewise::offload {

/// The levels of a Cycle, without vectors, and how the last one is solved.
template <class T, class Space>
struct CycleLevels {
  std::vector<CycleLevel<T, Space>> levels;
  std::vector<WayRecord> ways;  ///< in which their data leave the device
  std::string coarse_solver;
};

/// Collective. Matrices are `factor` times those of `from`, rounded to T. Where the last one is
/// small enough it is copied to the host and solved there; on one rank, it is inverted, and its
/// inverse copied back. Throws the same Error on every rank.
template <class T, class Space>
CycleLevels<T, Space> cycle_levels(const SetUpLevels<Space>& from, const amg::Options& options,
                                   double factor);

}  // namespace nodewise::offload
