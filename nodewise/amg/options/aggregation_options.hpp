// The options of smoothed aggregation.
#pragma once

#include <span>

#include "nodewise/amg/aggregate/aggregation_method.hpp"
#include "nodewise/amg/aggregate/candidate_relaxation.hpp"
#include "nodewise/amg/restriction/restriction_method.hpp"

namespace nodewise::amg {

struct AggregationOptions {
  double aggregation_threshold = -1;  ///< negative: by the number of unknowns
  Choice<AggregationMethod> aggregates = "independent_set";
  int aggregation_distance = 2;
  int prolongation_sweeps = 1;
  double prolongation_weight = 1.3333333333333333;
  bool filter_prolongation = false;
  int candidate_sweeps = 0;
  Choice<CandidateRelaxation> candidate_relaxation = "jacobi";
  Choice<RestrictionMethod> restriction = "transposed";
};
std::span<const Field<AggregationOptions>> aggregation_fields();

}  // namespace nodewise::amg
