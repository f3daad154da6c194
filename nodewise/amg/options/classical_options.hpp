// The options of methods that choose coarse points among the fine ones.
#pragma once

#include <span>

#include "nodewise/amg/coarsen/coarsening_method.hpp"
#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/amg/interpolate/interpolation_method.hpp"

namespace nodewise::amg {

struct ClassicalOptions {
  double strength_threshold = 0.25;
  StrengthMeasure strength_measure = StrengthMeasure::automatic;
  double max_row_sum = 0.9;
  Choice<CoarseningMethod> coarsening = "hmis";
  int aggressive_levels = 0;  ///< so many of the finest are coarsened in two stages
  int aggressive_paths = 1;
  Choice<InterpolationMethod> interpolation = "automatic";
  int max_interpolation_entries = 4;
  double interpolation_truncation = 0.0;
  interpolate::ToIsolated isolated_couplings = interpolate::ToIsolated::dropped;

  /// Whether a level is coarsened in two stages.
  bool is_aggressive(int level) const { return level < aggressive_levels; }
};
std::span<const Field<ClassicalOptions>> classical_fields();

/// Those of local approximate ideal restriction, which coarsens and interpolates as classical
/// methods do.
struct AirOptions : ClassicalOptions {
  int restriction_distance = 2;
  double restriction_threshold = 0.05;
  double restriction_truncation = 0.0;
  double coarse_filter = 0.001;  ///< of coarse matrices
};
std::span<const Field<AirOptions>> air_fields();

}  // namespace nodewise::amg
