// The one list of ways to group points. Each is described at the end of its own file.
#include "nodewise/amg/aggregate/aggregation_method.hpp"

namespace nodewise::amg {

const AggregationMethod& independent_set_aggregation();
const AggregationMethod& standard_aggregation();
const AggregationMethod& standard_first_aggregation();

Family<AggregationMethod>& AggregationMethod::family() {
  static Family<AggregationMethod> aggregations(
      "aggregates",
      {&independent_set_aggregation(), &standard_aggregation(), &standard_first_aggregation()},
      {"auto",
       "standard on one rank and on levels with 2,000 points a rank, where borders do not matter; "
       "else independent_set"});
  return aggregations;
}

}  // namespace nodewise::amg
