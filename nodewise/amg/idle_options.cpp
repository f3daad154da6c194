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
  Options completed = options;
  complete(completed);
  const SmootherKind kind = completed.smoother;
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
      {{"smoother", "sweep_order", "pre_sweeps"},
       "method classical or aggregation",
       [](const O& o) { return o.method->fixes.empty(); }},
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
  };
  return needs;
}

}  // namespace

std::string needed_by(std::string_view name, const Options& options) {
  Options copy = options;
  const std::string of_tree = nodewise::needed_by(view(copy, option_fields()), name);
  if (!of_tree.empty()) return of_tree;
  for (const Need& need : all_needs()) {
    const bool is_of_option =
        std::find(need.options.begin(), need.options.end(), name) != need.options.end();
    if (is_of_option && !need.is_met(options)) return need.text;
  }
  return "";
}

}  // namespace nodewise::amg
