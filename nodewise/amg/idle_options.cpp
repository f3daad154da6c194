#include "nodewise/amg/idle_options.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace nodewise::amg {

namespace {

/// What some options need to have an effect.
struct Need {
  std::vector<std::string_view> options;
  const char* text;
  bool (*is_met)(const Options&);
};

bool relaxes_by(std::initializer_list<SmootherKind> kinds, const Options& options) {
  const SmootherKind kind =
      options.method == Method::air ? SmootherKind::fc_jacobi : options.smoother;
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool relaxes_by_gauss_seidel(const Options& options) {
  return relaxes_by({SmootherKind::gauss_seidel, SmootherKind::l1_gauss_seidel,
                     SmootherKind::block_gauss_seidel, SmootherKind::l1_block_gauss_seidel},
                    options);
}

/// Of several that are not met the first is told.
const std::vector<Need>& all_needs() {
  using O = Options;
  static const std::vector<Need> needs = {
      {{"strength_threshold", "strength_measure", "max_row_sum", "coarsening", "aggressive_levels",
        "aggressive_paths", "interpolation", "max_interpolation_entries",
        "interpolation_truncation", "isolated_couplings"},
       "method classical or air",
       [](const O& o) { return o.method != Method::aggregation; }},
      {{"aggressive_paths"},
       "aggressive_levels above 0",
       [](const O& o) { return o.aggressive_levels > 0; }},
      {{"restriction_distance", "restriction_threshold", "restriction_truncation", "coarse_filter"},
       "method air",
       [](const O& o) { return o.method == Method::air; }},
      {{"smoother", "sweep_order", "pre_sweeps"},
       "method classical or aggregation",
       [](const O& o) { return o.method != Method::air; }},
      {{"sweep_order"},
       "a smoother that goes through rows or points in an order",
       [](const O& o) {
         return relaxes_by_gauss_seidel(o) || relaxes_by({SmootherKind::fc_jacobi}, o);
       }},
      {{"sweep_order"},
       "cycle v, w, f or k",
       [](const O& o) { return o.cycle != CycleKind::additive || goes_by_points(o.sweep_order); }},
      {{"pre_sweeps", "post_sweeps"},
       "cycle v, w, f or k",
       [](const O& o) { return o.cycle != CycleKind::additive; }},
      {{"jacobi_weight"},
       "smoother jacobi or block_jacobi",
       [](const O& o) {
         return relaxes_by({SmootherKind::jacobi, SmootherKind::block_jacobi}, o);
       }},
      {{"sor_weight"}, "a Gauss-Seidel smoother", relaxes_by_gauss_seidel},
      {{"chebyshev_degree", "chebyshev_fraction"},
       "smoother chebyshev",
       [](const O& o) { return relaxes_by({SmootherKind::chebyshev}, o); }},
      {{"fine_sweeps", "coarse_sweeps"},
       "smoother fc_jacobi",
       [](const O& o) { return relaxes_by({SmootherKind::fc_jacobi}, o); }},
      {{"aggregation_threshold", "aggregates", "aggregation_distance", "prolongation_sweeps",
        "prolongation_weight", "filter_prolongation", "candidate_sweeps", "candidate_relaxation",
        "restriction"},
       "method aggregation",
       [](const O& o) { return o.method == Method::aggregation; }},
      {{"aggregation_distance"},
       "aggregates independent_set or auto",
       [](const O& o) {
         return o.aggregates == AggregateKind::independent_set ||
                o.aggregates == AggregateKind::automatic;
       }},
      {{"prolongation_weight", "filter_prolongation"},
       "prolongation_sweeps above 0",
       [](const O& o) { return o.prolongation_sweeps > 0; }},
      {{"candidate_relaxation"},
       "candidate_sweeps above 0",
       [](const O& o) { return o.candidate_sweeps > 0; }},
  };
  return needs;
}

}  // namespace

std::string needed_by(std::string_view name, const Options& options) {
  const auto fields = option_fields();
  const auto has_name = [&](const Field<Options>& f) { return f.name == name; };
  if (std::none_of(fields.begin(), fields.end(), has_name)) {
    throw Error(ErrorCode::invalid_argument, "multigrid has no option " + std::string(name));
  }
  for (const Need& need : all_needs()) {
    const bool is_of_option =
        std::find(need.options.begin(), need.options.end(), name) != need.options.end();
    if (is_of_option && !need.is_met(options)) return need.text;
  }
  return "";
}

}  // namespace nodewise::amg
