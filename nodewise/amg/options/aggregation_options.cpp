#include "nodewise/amg/options/aggregation_options.hpp"

#include <vector>

namespace nodewise::amg {

std::span<const Field<AggregationOptions>> aggregation_fields() {
  using O = AggregationOptions;
  static const std::vector<Field<O>> fields = {
      field("aggregation_threshold", &O::aggregation_threshold,
            "Points are strongly connected where |a_ij| exceeds this times sqrt |a_ii a_jj|, norms "
            "of blocks where points have several unknowns; negative: 0.02, for such points 0.05, "
            "and 0.25 for classical strength",
            -1.0, 1.0),
      field("aggregation_strength", &O::aggregation_strength,
            "What entries are compared with to see which connections are strong",
            {{"symmetric", "the diagonal of both points"},
             {"classical",
              "the largest entry of the row or of the column, whichever makes it strong, of the "
              "sign opposite to the diagonal's; norms of blocks have no sign"}}),
      field("aggregates", &O::aggregates, "How points are grouped"),
      field("aggregation_distance", &O::aggregation_distance,
            "Points of the independent set are more connections apart than this", 1, 8)
          .needing("aggregates independent_set or auto",
                   [](const O& o) {
                     return o.aggregates.is_automatic() || o.aggregates->is_same_on_any_ranks;
                   }),
      field("prolongation_sweeps", &O::prolongation_sweeps,
            "Jacobi sweeps that smooth the prolongation of an aggregation", 0, 10),
      field("prolongation_weight", &O::prolongation_weight,
            "Their damping, divided by the spectral radius of the scaled matrix", 0.0, 2.0)
          .needing("prolongation_sweeps above 0",
                   [](const O& o) { return o.prolongation_sweeps > 0; }),
      field("scale_prolongation_weight", &O::scale_prolongation_weight,
            "Whether that weight is divided by that radius, which else is not estimated")
          .needing("prolongation_sweeps above 0",
                   [](const O& o) { return o.prolongation_sweeps > 0; }),
      field("filter_prolongation", &O::filter_prolongation,
            "Whether they leave out weak entries of the matrix, lumped into the diagonal")
          .needing("prolongation_sweeps above 0",
                   [](const O& o) { return o.prolongation_sweeps > 0; }),
      field("candidate_sweeps", &O::candidate_sweeps,
            "Relaxation of the near null space on the finest level, before it is aggregated", 0,
            100),
      field("candidate_relaxation", &O::candidate_relaxation, "What that is")
          .needing("candidate_sweeps above 0", [](const O& o) { return o.candidate_sweeps > 0; }),
      field("restriction", &O::restriction, "That of an aggregation"),
  };
  return fields;
}

}  // namespace nodewise::amg
