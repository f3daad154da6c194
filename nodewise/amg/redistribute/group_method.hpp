// Which ranks give their rows of a level to which. methods.cpp lists the ways.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/base/types.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::amg {

/// What one rank sends to another in a product with the level's matrix.
struct RankCoupling {
  int from, to;
  std::int64_t entries;
};

/// The ranks that are to be put in groups.
struct GroupTask {
  const mpi::Topology& topology;
  std::span<const GlobalIndex> rows;  ///< of each rank; those without any stay by themselves
  int n_groups = 1;                   ///< from 1 to the number of ranks with rows
  std::span<const RankCoupling> couplings = {};  ///< where the method needs them
};

struct GroupMethod : MethodInfo {
  using Holders = std::vector<int> (*)(const GroupTask& task);

  /// Whether it asks for couplings, so that the level's matrix must be made before its rows move.
  Required<bool> needs_couplings;
  /// Whether this build has what it takes.
  Required<bool (*)()> is_available;
  /// Local, the same for the same task. For each rank the one that its rows go to: the first of its
  /// group.
  Required<Holders> holders;

  static Family<GroupMethod>& family();
};

}  // namespace nodewise::amg
