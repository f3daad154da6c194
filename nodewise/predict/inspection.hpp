// All that an inspection finds: what `nodewise inspect` prints.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/partition/arrangement.hpp"

namespace nodewise::predict {

/// The facts that one pass over a matrix tells beyond its size.
struct MatrixStatistics {
  GlobalIndex columns = 0;
  GlobalIndex shortest_row = 0;  ///< entries
  GlobalIndex longest_row = 0;
  GlobalIndex empty_rows = 0;
  GlobalIndex bandwidth = 0;       ///< the largest |i - j| of an entry
  GlobalIndex zero_diagonals = 0;  ///< missing or stored as zero, for a square matrix
  GlobalIndex negative_diagonals = 0;
  GlobalIndex dominant_rows = 0;  ///< |a_ii| >= the sum of the other moduli
  GlobalIndex not_finite = 0;     ///< entries that are NaN or infinite
  double smallest = 0;            ///< modulus of an entry that is finite and not zero; 0: none
  double largest = 0;
};

/// A level of the hierarchy beyond LevelInfo.
struct LevelStatistics {
  GlobalIndex longest_row = 0;
};

/// What ranks have of the matrix.
struct LargestRank {
  int ranks = 1;
  GlobalIndex rows = 0;  ///< of the rank with most
  GlobalIndex nonzeros = 0;
};

/// Messages and bytes that ranks send in one operation, to ranks of one kind.
struct Volume {
  std::int64_t max_messages = 0;  ///< of the rank that sends most messages
  std::int64_t max_bytes = 0;     ///< of the rank that sends most bytes
  std::int64_t messages = 0;      ///< of all ranks together
  std::int64_t bytes = 0;

  Volume& operator+=(const Volume& more);
};

struct RouteVolumes {
  Volume on_domain;  ///< counted in on_node too
  Volume on_node;
  Volume off_node;
};

/// The operations that are counted on a level.
enum class CountedExchange {
  product,             ///< with the level's matrix: also smoothing sweeps and residuals
  interpolation,       ///< from the next level
  interpolation_rows,  ///< rows of the interpolation on their way to A P of the Galerkin product
  /// To the next level, where it is not the interpolation in the other direction; or to its copies.
  restriction
};
inline constexpr std::array<CountedExchange, 4> all_counted_exchanges = {
    CountedExchange::product, CountedExchange::interpolation, CountedExchange::interpolation_rows,
    CountedExchange::restriction};
/// The name of the enumerator.
const char* to_string(CountedExchange operation) noexcept;

/// One level on virtual ranks.
struct LevelCounts {
  int active_ranks = 0;       ///< that own rows
  int copies = 1;             ///< ranks that have the whole level, where it is solved redundantly
  GlobalIndex most_rows = 0;  ///< of a rank
  /// By operation, then by route in the order of VirtualCounts::routes. Only `product` on the last
  /// level.
  std::array<std::vector<RouteVolumes>, all_counted_exchanges.size()> volumes;

  const std::vector<RouteVolumes>& of(CountedExchange operation) const {
    return volumes[static_cast<std::size_t>(operation)];
  }
};

/// The counts for a machine that is not at hand.
struct VirtualCounts {
  std::vector<int> ranks_per_node;
  int n_domains = 0;  ///< of all nodes; one a node where they are not divided
  std::vector<comm::Route> routes;
  std::vector<LevelCounts> levels;
  /// Whether a hierarchy that so many ranks made would have the same levels, entry by entry.
  bool levels_are_exact = false;

  int n_ranks() const;
  int n_nodes() const { return static_cast<int>(ranks_per_node.size()); }
  /// What an operation on each of the levels sends over a route, added up.
  RouteVolumes of_all_levels(CountedExchange operation, std::size_t route) const;
};

/// The results of an inspection.
struct Inspection {
  MatrixStatistics statistics;
  std::string no_hierarchy;  ///< why there is none; empty where there is one
  std::vector<amg::LevelInfo> levels;
  std::vector<LevelStatistics> level_statistics;
  double grid_complexity = 0;
  double operator_complexity = 0;
  std::optional<VirtualCounts> counted;
  std::optional<partition::PlacementGain> placement_gain;
  std::optional<partition::ReorderingGain> reordering_gain;
  LargestRank largest_rank;  ///< of those at hand, or of the virtual ones
  double partition_s = 0;    ///< the longest over the ranks
  double setup_s = 0;
  double count_s = 0;
};

}  // namespace nodewise::predict
