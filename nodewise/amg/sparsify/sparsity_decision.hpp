// Which entries a coarse matrix is to lose, by what that would save.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/amg/redistribute/redistribution_decision.hpp"
#include "nodewise/amg/sparsify/sparsify.hpp"

namespace nodewise::amg::sparsify {

/// What a level takes in a cycle where its matrix loses some entries, and how much that is.
struct SparserCost {
  double level_s = 0;
  double mean_loss = 0;  ///< of a row, of the sum of the norms of its off-diagonal blocks
};

/// Local and pure. By how much a solve takes more iterations with a matrix that has lost so much,
/// as a factor: more than was seen on model problems (docs/methods/sparsification.md, "By costs").
double growth_of_iterations(double mean_loss);

/// A cycle as it is known when a level is made.
struct KnownCycle {
  double finer_s = 0;  ///< what the levels above take
  double level_s = 0;  ///< what the level takes with all its entries
  double cycles = 1;   ///< that the hierarchy is expected to serve
  double price_s = 0;  ///< of making the matrix sparser

  /// The levels below are expected to take together what this one does.
  double all_s() const { return finer_s + 2 * level_s; }
};

/// The best of several costs, and whether it pays.
struct BestCost {
  std::size_t best = 0;
  bool pays = false;
};

/// Local and pure. The cost with which all cycles take least, the first of equal ones. It pays
/// where it saves a twentieth of what the level takes, and a hundredth of all cycles.
BestCost best_cost(const KnownCycle& cycle, std::span<const SparserCost> costs);

/// A choice for one level, the same on every rank.
struct SparsityDecision {
  std::string drop;       ///< the rule; empty where all entries stay
  double tolerance = 0;   ///< 0: all entries stay
  bool by_nodes = false;  ///< RowPlaces::by_nodes
  double full_s = 0;      ///< of the level in a cycle with all entries; 0: not asked
  double sparse_s = 0;    ///< with the rest by the best of the rules
  double growth = 1;      ///< of iterations, at most expected then
  /// "predicted 41 us in a cycle without messages of 0.2 against 118 us with all, for up to 3 %
  /// ..."
  std::string reason;
};

/// A decision, and the matrix where it is to lose entries.
template <class T>
struct SparserChoice {
  SparsityDecision decision;
  std::optional<Sparsified<T>> sparse;
};

/// Collective. What the finest level takes in a cycle, and the method around it; 0 where nothing is
/// known of the costs of messages.
double finest_level_s(NextLevel& level);

/// Collective. What is left of A by the rule, among all of the family and the tolerances of their
/// ladders, for messages between ranks and between nodes, that the costs say is best: of messages,
/// each over the best route that the level may take, of arithmetic, and of iterations. `level`
/// tells of the costs with all entries; what it takes is added to finer.cycle_s. Costs what
/// weighed() does, once for all rules, a forecast of the routes of all candidates, which stays on
/// the nodes, and two reductions (NextLevel::exchange_s()); nothing where all ranks are on one
/// node. Throws, on every rank, what failed on any.
template <class T>
SparserChoice<T> cheapest_sparsity(const MatrixPointer<T>& A, const Coarsening<T>& coarsening,
                                   const DropRules<T>& rules, NextLevel& level, FinerLevels& finer,
                                   std::optional<Error> failure);

}  // namespace nodewise::amg::sparsify
