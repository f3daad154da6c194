// Facts of the levels of a hierarchy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "nodewise/amg/options.hpp"
#include "nodewise/amg/redistribute/redistribution_decision.hpp"
#include "nodewise/amg/sparsify/sparsity_decision.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/routing/overlap_choice.hpp"
#include "nodewise/routing/route_choice.hpp"
#include "nodewise/routing/transport_choice.hpp"

namespace nodewise::amg {

/// What a level's matrix was before it lost entries, and what its direct messages were; those of a
/// product, over all ranks.
struct Sparsity {
  double tolerance = 0;      ///< below which entries went
  GlobalIndex nonzeros = 0;  ///< before
  comm::Traffic before, after;
};

/// Facts of one level; the same on every rank.
struct LevelInfo {
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
  GlobalIndex interpolation_nonzeros =
      0;                 ///< of the prolongation from the next level; 0 on the last
  int active_ranks = 0;  ///< ranks that own rows
  int copies = 1;        ///< ranks that have the whole level, where it is solved redundantly
  bool is_single_precision =
      false;  ///< the cycle computes in float here, and the matrix is in double
  routing::LevelRoutes routes;
  /// Why, where they were chosen and not given; otherwise null.
  std::shared_ptr<const routing::RouteDecision> route_choice, setup_route_choice;
  std::shared_ptr<const routing::TransportDecision> transport_choice;  ///< likewise, of the solve
  /// What products compute while their messages travel, and why, where that was chosen.
  comm::Overlap overlap = comm::Overlap::naive;
  std::shared_ptr<const routing::OverlapDecision> overlap_choice;
  /// Likewise, why its rows were moved to fewer ranks, or not.
  std::shared_ptr<const RedistributionDecision> redistribution_choice;
  /// Likewise, why its matrix lost entries, or not.
  std::shared_ptr<const sparsify::SparsityDecision> sparsity_choice;
  std::shared_ptr<const Sparsity> sparsity;  ///< null where the matrix has all its entries
  comm::Traffic traffic;          ///< of one product with the level's matrix, over all ranks
  std::int64_t max_messages = 0;  ///< sent by the busiest rank in one product
  /// Of the gathering of a right-hand side for the next level, over all ranks (MoveMethod
  /// collective).
  comm::Traffic gather_traffic;
  std::string coarse_solver;  ///< on the last level: how it is solved
};

/// What all levels have together, relative to the first: of rows the grid complexity, of nonzeros
/// the operator complexity.
inline double complexity(std::span<const LevelInfo> levels, GlobalIndex LevelInfo::*count) {
  double sum = 0;
  for (const LevelInfo& info : levels) sum += static_cast<double>(info.*count);
  return sum / std::max(1.0, static_cast<double>(levels.front().*count));
}

/// Called on every rank when a level is coarsened; its traffic, ranks and messages are then of the
/// calling rank alone, and those of all when the hierarchy is complete; how the last one is solved
/// is known then, too. Must throw on every rank or on none.
using LevelObserver = std::function<void(int level, const LevelInfo& info)>;

}  // namespace nodewise::amg
