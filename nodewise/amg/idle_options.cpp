#include "nodewise/amg/idle_options.hpp"

#include <algorithm>
#include <vector>

namespace nodewise::amg {

namespace {

/// What some options need to have an effect.
struct Need {
  std::vector<std::string_view> options;
  const char* text;
  bool (*is_met)(const Options&);
};

/// Of several that are not met the first is told.
const std::vector<Need>& all_needs() {
  using O = Options;
  static const std::vector<Need> needs = {
      {{"smoother", "sweep_order", "pre_sweeps"},
       "method classical or aggregation",
       [](const O& o) { return o.method->fixes.empty(); }},
      {{"sweep_order"},
       "cycle v, w, f or k",
       [](const O& o) {
         return o.cycle->visit != CoarseVisit::add || goes_by_points(relax::order_of(o.smoother));
       }},
  };
  return needs;
}

}  // namespace

std::string needed_by(std::string_view name, const Options& options) {
  Options copy = options;
  complete(copy);
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
