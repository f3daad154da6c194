// The levels of a hierarchy, one after another.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/amg/setup/level.hpp"
#include "nodewise/amg/setup/level_info.hpp"

namespace nodewise::amg {

/// The levels of a hierarchy before there is a cycle.
template <class T>
struct SetUp {
  Levels<T> levels;
  std::vector<LevelInfo> info;  // of this rank's part
  std::vector<double> radii;
  // The failure of this rank alone, other than a matrix. It waits for the others at the end: an
  // agreement on every level would cost a message to the farthest rank and back.
  std::optional<Error> failure;
  // Whether some level is on fewer ranks than the finest, and the rank that says what the others
  // do not know. The same on every rank.
  bool on_fewer_ranks = false;
  FinerLevels finer;  // for decisions on the next level's ranks
  int informant = 0;
};

/// The levels of an earlier setup, whose splittings and routes are taken again.
template <class T>
struct Earlier {
  const Levels<T>& levels;
  std::span<const LevelInfo> info;
};

/// Whether the levels below a symmetric one are symmetric, but for rounding: the restriction is the
/// transposed prolongation, or made from the same vectors.
template <class T>
bool keeps_symmetry(const ProblemInfo<T>& knowledge, const Options& options);

/// Collective. From the finest matrix down, until may_coarsen() says no or nothing is left to
/// coarsen. Where rows are moved, levels that some ranks have no rows of are set up by the others
/// alone, and then share_levels(). Like the levels of `earlier`, if there are any. Options must be
/// complete (examine()).
template <class T>
SetUp<T> set_up_levels(MatrixPointer<T> A, ProblemInfo<T> knowledge, std::optional<bool> symmetric,
                       const Options& options, const LevelObserver& observe,
                       const Earlier<T>* earlier = nullptr);

}  // namespace nodewise::amg
