// How many ranks a coarse level is to have. methods.cpp lists the ways to say it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodewise/amg/redistribute/redistribution_decision.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::amg {

/// The next level, as it would be without a move.
struct LevelSize {
  int level = 1;  ///< its number, 0 being the finest
  GlobalIndex rows = 0;
  int active_ranks = 1;  ///< that have rows
};

struct RedistributionMethod : MethodInfo {
  using Ranks = int (*)(const Choice<RedistributionMethod>& choice, const LevelSize& next);
  using Copies = bool (*)(const Choice<RedistributionMethod>& choice);
  using Decide = RedistributionDecision (*)(NextLevel& next, FinerLevels& finer);

  Required<bool> moves_rows;  ///< whether a level may be on fewer ranks
  /// Local, the same on every rank. On how many ranks the level is to be. More than have rows, or
  /// fewer than one, are taken for as many, and for one.
  Required<Ranks> ranks;
  /// Local. Whether one rank of each node has a copy of a level that is on one rank; null: none
  /// has.
  Copies copies = nullptr;
  /// Collective. The same as `ranks` when the level's matrix is known, on the ranks that its rows
  /// come from; null where `ranks` says it before. Called for the finest level first, which stays.
  Decide decide = nullptr;
  /// Whether the caches of a machine decide, too.
  bool reads_caches = false;

  static Family<RedistributionMethod>& family();
};

using Redistribution = Choice<RedistributionMethod>;

/// The options of redistribution `ranks`.
struct ActiveRankOptions {
  std::vector<int> active_ranks = {1};  ///< of levels 1, 2, ...; the last for all deeper ones
  bool redundant = false;               ///< see RedistributionMethod::copies
};
/// The options of redistribution `rows`.
struct RowOptions {
  int rows_per_rank = 50;
  bool redundant = false;
};

/// Local. RedistributionMethod::ranks of those that move none by their size.
int ranks_as_before(const Redistribution& redistribution, const LevelSize& next);

/// Local. Whether levels on one rank are copied (RedistributionMethod::copies).
bool makes_copies(const Redistribution& redistribution);

/// Local. On how many ranks the next level is to be: from 1 to next.active_ranks.
int ranks_of(const Redistribution& redistribution, const LevelSize& next);

}  // namespace nodewise::amg
