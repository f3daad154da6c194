// Which rank each part of a partition is to be on. placements.cpp lists the ways to find that.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/topology.hpp"
#include "nodewise/partition/quotient_graph.hpp"

namespace nodewise::partition {

/// As many parts as ranks.
struct PlacementTask {
  /// Null where it is too large: nearly all parts need values of nearly all others.
  const QuotientGraph* graph = nullptr;
  const mpi::Topology& topology;
  /// Null: what crosses between nodes counts, and between domains a little.
  const model::Machine* machine = nullptr;
  double value_bytes = 8;
};

struct PlacementMethod : MethodInfo {
  using Ranks = std::vector<int> (*)(const PlacementTask& task);
  using NodeOfRank = int (*)(int rank, int n_ranks, int per_node);

  /// Whether a part may be on another rank than that of its number.
  Required<bool> moves_parts;
  /// Local. The rank of each part: each rank once.
  Required<Ranks> ranks;
  /// Local. The node of a virtual rank where nodes have `per_node` each and no list says it.
  Required<NodeOfRank> node_of_rank;
  /// Whether that is all of it, for virtual ranks: their parts have the numbers of the ranks.
  Required<bool> deals_ranks;

  static Family<PlacementMethod>& family();
};

using Placement = Choice<PlacementMethod>;

/// What a placement made of a product that goes straight.
struct PlacementGain {
  int n_parts = 0;
  int moved_parts = 0;             ///< that are on another rank than that of their number
  bool is_known = false;           ///< the rest: whether the graph of the parts was small enough
  std::int64_t values_before = 0;  ///< between nodes
  std::int64_t values_after = 0;
  std::optional<double> seconds_before, seconds_after;  ///< by a machine's costs
};

/// Local. PlacementMethod::node_of_rank where successive ranks fill one node after the other.
int node_in_blocks(int rank, int n_ranks, int per_node);

/// Local. Part p on rank p.
std::vector<int> ranks_as_numbered(const PlacementTask& task);

/// Local. What crosses between nodes, and what it costs, with part p on rank p and with it on
/// rank_of_part[p].
PlacementGain gain_of(std::span<const int> rank_of_part, const PlacementTask& task);

/// Collective. Puts the parts of a partition on ranks: `owners` are the parts of this rank's rows
/// and become their ranks. The same on every rank. What quotient_graph() costs. `machine` may be
/// null. Throws what the machine's check does.
PlacementGain place_parts(const Placement& placement, const matrix::DistMatrix<double>& A,
                          const mpi::Topology& topology, const model::Machine* machine,
                          std::vector<int>& owners);

}  // namespace nodewise::partition
