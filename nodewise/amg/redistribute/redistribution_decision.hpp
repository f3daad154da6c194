// On how many ranks a level is to be, by what it would cost there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/base/types.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/topology.hpp"
#include "nodewise/routing/decision_rule.hpp"

namespace nodewise::amg {

/// A choice for one level, the same on every rank.
struct RedistributionDecision {
  int ranks_before = 1;  ///< that have rows where none are moved
  int ranks = 1;         ///< that are to have them
  double stay_s = 0;     ///< the level in a cycle where it stays
  double moved_s = 0;    ///< on the number of ranks, fewer than now, that would be best; 0: none
  /// Likewise of the setup, the move included; 0: the method looks at cycles only.
  double stay_setup_s = 0, moved_setup_s = 0;
  bool redundant = false;  ///< whether it goes to one rank, and a copy to one of each node
  /// "predicted 41 us in a cycle and 1.2 ms in the setup on 16 ranks against ..."
  std::string reason;

  bool moves() const { return ranks < ranks_before; }
};

/// What a decision has to know of those before it.
struct FinerLevels {
  double stay_s = 0;  ///< sum of what they take
  double flop_s = 0;  ///< of the last of them; 0: there is none
  bool moved = false;
  double cycle_s = 0;  ///< sum of what the solve does on them in a cycle, where that is asked for
};

/// What a rank exchanges with others for a level, going straight.
struct RankExchanges {
  int rank = 0;
  double nonzeros = 0;
  std::vector<comm::MessageSize> product;  ///< that it sends in a product
  /// The level's rows that its part of the interpolation reads, by the ranks that have them, its
  /// own included.
  std::vector<comm::MessageSize> transfer;
};

/// Numbers that ranks bring along to what they do together, as many on each.
struct Riders {
  std::span<double> sums = {};  ///< that become their sums over the ranks
  std::span<double> most = {};  ///< that become their maxima
};

/// A level whose matrix is made and whose rows may be moved. Functions are collective over the
/// ranks that take part, or local where one process stands for them.
class NextLevel {
 public:
  /// Seconds of an exchange over the best of the routes that it may take.
  struct Times {
    double product_s = 0;
    double transfer_s = 0;
  };

  virtual ~NextLevel() = default;
  virtual int level() const = 0;  ///< 0 being the finest, which has no transfer
  /// Whether it is solved directly, and not coarsened.
  virtual bool is_solved() const = 0;
  virtual const mpi::Topology& topology() const = 0;
  /// Where the rows of each rank begin.
  virtual std::span<const GlobalIndex> starts() const = 0;
  virtual double nonzeros() const = 0;  ///< of all ranks
  /// The costs of messages; null where nothing is known of them and nothing can be gained.
  virtual const model::Machine* machine() = 0;
  virtual double expected_solves() const = 0;
  virtual double value_bytes() const = 0;
  /// Of this rank, or of all that one process stands for.
  virtual std::vector<RankExchanges> exchanges() = 0;
  virtual Times times() = 0;
  /// The direct patterns of a product: this rank's, or those of all that one process stands for.
  virtual std::vector<comm::Pattern> product_patterns() const = 0;
  /// Seconds of each exchange over the best of the routes, likewise: direct patterns come one
  /// behind the other. Throws, on every rank, what `failure` says on any, where as many patterns
  /// must come, but none is looked at. Two reductions.
  virtual std::vector<double> exchange_s(std::span<const comm::Pattern> patterns,
                                         const Riders& riders, std::optional<Error> failure) = 0;
  /// Whether its exchanges may take a route that gathers messages on nodes.
  virtual bool may_gather_on_nodes() const = 0;
  /// Whether one rank of each node may have a copy, and the ranks that take part in the level
  /// above.
  virtual bool may_have_copies() const = 0;
  virtual std::vector<int> ranks_above() const = 0;
  /// Over the ranks of this node.
  virtual void sum_on_nodes(std::span<double> values) = 0;
  /// Local. Whether what all ranks of a node know is to be counted here: by one of them.
  virtual bool speaks_for(int node) const = 0;
  /// Over the ranks.
  virtual void sum(std::span<double> values) = 0;
  virtual void max(std::span<double> values) = 0;

  double rows() const { return static_cast<double>(starts().back() - starts().front()); }
  /// The rows of each rank.
  std::vector<GlobalIndex> rows_of_ranks() const;
  int active_ranks() const;
  /// The nodes that have rows.
  int active_nodes() const;
};

/// A V(1,1) cycle has, on each level, about so many products, each with an exchange.
inline constexpr double products_of_a_cycle = 5;
/// A restriction and a prolongation.
inline constexpr double transfers_of_a_cycle = 2;
/// Of a solve, as choices of routes expect them.
inline constexpr double cycles_of_a_solve = routing::exchanges_of_a_solve / 4;

/// Local. Seconds of a reduction of one number among ranks on so many nodes.
double reduction_s(const model::Machine& machine, int ranks, int nodes);

/// Local. Seconds of a floating-point operation of a level with so many nonzeros a rank: what the
/// machine says; where it says nothing, those of one core that reads its matrix from memory.
double flop_s(const model::Machine& machine, int level, double nonzeros_per_rank);

}  // namespace nodewise::amg
