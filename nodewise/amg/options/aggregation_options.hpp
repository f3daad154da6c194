// The options of smoothed aggregation.
#pragma once

#include <span>

#include "nodewise/amg/aggregate/aggregation_method.hpp"
#include "nodewise/amg/aggregate/candidate_relaxation.hpp"
#include "nodewise/amg/aggregate/graph.hpp"
#include "nodewise/amg/restriction/restriction_method.hpp"

namespace nodewise::amg {

struct AggregationOptions {
  double aggregation_threshold = -1;  ///< negative: by the measure and the number of unknowns
  ConnectionMeasure aggregation_strength = ConnectionMeasure::symmetric;
  Choice<AggregationMethod> aggregates = "independent_set";
  int aggregation_distance = 2;
  int prolongation_sweeps = 1;
  double prolongation_weight = 1.3333333333333333;
  bool scale_prolongation_weight = true;
  bool filter_prolongation = false;

  /// Whether the prolongator's smoothing has to know the spectral radius of what it smooths by.
  bool needs_radius_for_smoothing() const {
    return prolongation_sweeps > 0 && scale_prolongation_weight;
  }
  int candidate_sweeps = 0;
  Choice<CandidateRelaxation> candidate_relaxation = "jacobi";
  Choice<RestrictionMethod> restriction = "transposed";
};
std::span<const Field<AggregationOptions>> aggregation_fields();

}  // namespace nodewise::amg
