// The rows of a matrix divided among ranks: a partition, and its parts on ranks.
#pragma once

#include <optional>
#include <vector>

#include "nodewise/partition/partition_method.hpp"
#include "nodewise/partition/placement_method.hpp"

namespace nodewise::partition {

/// How rows are to be divided.
struct DivisionOptions {
  Partition partition = "none";
  Placement placement = "none";
  const model::Machine* machine = nullptr;  ///< whose costs are taken; null: none
  /// The ranks are virtual, those of a matrix on one rank: a placement may have dealt them to nodes
  /// already.
  bool is_virtual = false;

  /// Whether parts change their ranks.
  bool places_parts() const {
    return placement->moves_parts && !(is_virtual && placement->deals_ranks);
  }
  /// Whether rows may go to other ranks.
  bool moves_rows() const { return partition->moves_rows || places_parts(); }
};

struct Division {
  std::vector<int> owners;  ///< the rank of each of this rank's rows
  std::optional<PlacementGain> placement;
};

/// Collective. Throws, the same on every rank, what owners() and place_parts() do.
Division divide(const DivisionOptions& options, const PartitionTask& task);

}  // namespace nodewise::partition
