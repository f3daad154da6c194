// The rows of a matrix divided among ranks: a partition, and its parts on ranks.
#pragma once

#include <optional>
#include <vector>

#include "nodewise/partition/partition_decision.hpp"
#include "nodewise/partition/partition_method.hpp"
#include "nodewise/partition/placement_method.hpp"

namespace nodewise::partition {

/// What ranks get equal shares of. `automatic`: of nonzeros where a partition moves rows, and where
/// none does rows stay.
enum class Balance { automatic, rows, nonzeros };

/// How rows are to be divided.
struct DivisionOptions {
  Partition partition = "none";
  Placement placement = "none";
  const model::Machine* machine = nullptr;  ///< whose costs are taken; null: none
  double products = 0;                      ///< expected, for partition automatic
  bool by_node = false;                     ///< see DecisionTask
  /// The ranks are virtual, those of a matrix on one rank: a placement may have dealt them to nodes
  /// already.
  bool is_virtual = false;
  Balance balance = Balance::automatic;  ///< without a partition, of rows in their order

  /// Whether parts change their ranks.
  bool places_parts() const {
    return placement->moves_parts && !(is_virtual && placement->deals_ranks);
  }
  /// Whether nothing is to be found out: rows stay.
  bool is_plain() const {
    return !partition.is_automatic() && !partition->moves_rows && !places_parts() &&
           balance == Balance::automatic;
  }
};

struct Division {
  bool moves_rows = false;  ///< whether rows may go to other ranks
  std::vector<int> owners;  ///< the rank of each of this rank's rows; empty where none moves
  std::optional<PartitionDecision> decision;  ///< of partition automatic
  std::optional<PlacementGain> placement;
};

/// Collective, unless options.is_plain(). Throws, the same on every rank, what owners(),
/// decide_partition() and place_parts() do.
Division divide(const DivisionOptions& options, const PartitionTask& task);

}  // namespace nodewise::partition
