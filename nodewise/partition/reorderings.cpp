// The list of reorderings. Each is described at the end of its own file.
#include <numeric>

#include "nodewise/partition/reordering_method.hpp"

namespace nodewise::partition {

namespace {

std::vector<LocalIndex> order_as_it_is(const PointGraph& graph) {
  std::vector<LocalIndex> order(static_cast<std::size_t>(graph.n_points()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

const ReorderingMethod& no_reordering() {
  static const ReorderingMethod method = {
      {"none", "rows keep the order that they have", ""}, false, false, order_as_it_is};
  return method;
}

}  // namespace

const ReorderingMethod& rcm_reordering();
const ReorderingMethod& global_rcm_reordering();

Family<ReorderingMethod>& ReorderingMethod::family() {
  static Family<ReorderingMethod> methods(
      "reorder", {&no_reordering(), &rcm_reordering(), &global_rcm_reordering()});
  return methods;
}

}  // namespace nodewise::partition
