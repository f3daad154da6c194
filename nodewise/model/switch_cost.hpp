// When a level of a cycle is cheaper on fewer processes: the model of Gahvari, Gropp, Jordan,
// Schulz and Yang, "Algebraic multigrid on a dragonfly network", 2014, section 6.1.
#pragma once

#include <optional>
#include <vector>

#include "nodewise/model/cycle_cost.hpp"

namespace nodewise::model {

/// A level before it is coarsened: its matrix A_i on the processes that have rows of it.
struct LevelOnProcesses {
  double unknowns = 0;          ///< C_i
  double nonzeros_per_row = 0;  ///< s_i
  double sends = 0;             ///< p_i, most messages that a process sends in a product
  double elements = 0;          ///< n_i, most doubles that a process sends in a product
  double active_processes = 1;  ///< P_i
};

/// Local. Seconds of the level in a cycle as it is, on P_i of `processes`: five products with A_i,
///   T_noswitch = 10 C_i/P s_i t_i + 5 (p_i alpha + n_i beta).
double stay_s(const LevelOnProcesses& level, double processes, double s_per_flop,
              const NetworkParameters& network);

/// Local. Seconds of bringing a right-hand side and a guess to `groups` processes, one in each of C
/// groups of P_i / C, and a solution back: two gatherings and a scattering over binary trees,
///   T_collective = 3 L alpha + C_i/C (2 + L) beta,   L = ceil(log2(P_i / C)).
double collective_move_s(const LevelOnProcesses& level, double groups,
                         const NetworkParameters& network);

/// Local. Seconds of a product with A_i on `groups` processes, of which each sends to all others,
///   T_new = 2 C_i/C s_i t_i + (C - 1) (alpha + n_i/p_i beta).
double moved_product_s(const LevelOnProcesses& level, double groups, double s_per_flop,
                       const NetworkParameters& network);

/// Local. T_switch = 5 T_new + T_collective.
double switch_s(const LevelOnProcesses& level, double groups, double s_per_flop,
                const NetworkParameters& network);

/// Where the vector, and the matrix too, of a process fit: `cache_bytes` are its share of the cache
/// that the processes of a node have together. 0: not known, and never in the way.
struct CacheRule {
  double cache_bytes = 0;

  /// Local. How large the part of a process with so many rows is: 0 to 1 while the matrix and the
  /// vector fit (1: just so), 1 to 2 while the vector does, 2 where neither does. A row takes 12
  /// bytes for each nonzero, 8 for where it begins, and 8 for its entry of the vector.
  double size_of(double rows, double nonzeros_per_row) const;
  /// Local. Whether a process that gets `after` rows instead of `before` comes at least halfway
  /// into its class towards a larger one.
  bool forbids(double before, double after, double nonzeros_per_row) const;
};

/// What a level would take on fewer processes.
struct SwitchCandidate {
  int groups = 1;  ///< C
  double seconds = 0;
};

/// Local. T_switch of the powers of two below p_i, and below P_i, that the cache allows, ascending.
std::vector<SwitchCandidate> switch_candidates(const LevelOnProcesses& level, double s_per_flop,
                                               const NetworkParameters& network,
                                               const CacheRule& cache);

/// What became of a level.
struct SwitchDecision {
  double stay_s = 0;                    ///< T_noswitch
  std::optional<SwitchCandidate> best;  ///< the lowest T_switch; none where there is no candidate
  /// Whether to switch: it gains, and at least 5 % of T_noswitch of this level and all finer ones.
  bool pays = false;
};

/// Local. `finer_s` is the sum of T_noswitch of all finer levels.
SwitchDecision decide_switch(const LevelOnProcesses& level, double processes, double s_per_flop,
                             const NetworkParameters& network, const CacheRule& cache,
                             double finer_s);

/// Local. t_i as it is taken: what was measured on each level, until it rises; from then on the
/// last before (section 6.1).
std::vector<double> frozen_flop_times(std::vector<double> measured);

}  // namespace nodewise::model
