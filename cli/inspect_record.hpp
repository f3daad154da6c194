// All that `nodewise inspect` finds: what its tables print and its JSON report holds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/route/route.hpp"

#include "cli/record.hpp"

namespace nodewise::cli {

/// What one pass over a matrix tells beyond MatrixFacts.
struct MatrixSurvey {
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
struct LevelSurvey {
  GlobalIndex longest_row = 0;
};

/// Messages and bytes that ranks send in one operation, to ranks of one kind.
struct Volume {
  std::int64_t max_messages = 0;  ///< of the rank that sends most messages
  std::int64_t max_bytes = 0;     ///< of the rank that sends most bytes
  std::int64_t messages = 0;      ///< of all ranks together
  std::int64_t bytes = 0;
};

struct RouteVolumes {
  Volume on_domain;  ///< counted in on_node too
  Volume on_node;
  Volume off_node;
};

/// The operations that are counted on a level.
enum class Operation {
  product,             ///< with the level's matrix: also smoothing sweeps and residuals
  interpolation,       ///< from the next level
  interpolation_rows,  ///< rows of the interpolation on their way to A P of the Galerkin product
  restriction  ///< to the next level, where it is not the interpolation in the other direction
};
inline constexpr std::array<Operation, 4> all_operations = {
    Operation::product, Operation::interpolation, Operation::interpolation_rows,
    Operation::restriction};
/// The name of the enumerator.
const char* to_string(Operation operation) noexcept;

/// One level on virtual ranks.
struct VirtualLevel {
  int active_ranks = 0;       ///< that own rows
  GlobalIndex most_rows = 0;  ///< of a rank
  /// By operation, then by route in the order of VirtualRecord::routes. Only `product` on the last
  /// level.
  std::array<std::vector<RouteVolumes>, all_operations.size()> volumes;

  const std::vector<RouteVolumes>& of(Operation operation) const {
    return volumes[static_cast<std::size_t>(operation)];
  }
};

/// The counts for a machine that is not at hand.
struct VirtualRecord {
  std::vector<int> ranks_per_node;
  int n_domains = 0;  ///< of all nodes; one a node where they are not divided
  std::vector<comm::Route> routes;
  std::vector<VirtualLevel> levels;
  /// Whether a hierarchy that so many ranks made would have the same levels, entry by entry.
  bool levels_are_exact = false;

  int n_ranks() const;
  int n_nodes() const { return static_cast<int>(ranks_per_node.size()); }
};

struct InspectTimes {
  double read = 0;
  double setup = 0;
  double count = 0;
};

struct InspectRecord {
  std::vector<std::string> command_line;
  PresetRecord preset;
  Machine machine;
  MatrixFacts matrix;
  MatrixSurvey survey;
  std::string no_hierarchy;  ///< why there is none; empty where there is one
  std::vector<amg::LevelInfo> levels;
  std::vector<LevelSurvey> level_surveys;
  double grid_complexity = 0;
  double operator_complexity = 0;
  std::optional<VirtualRecord> counted;
  InspectTimes times;
  MemoryUse memory;
};

}  // namespace nodewise::cli
