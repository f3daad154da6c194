// In which order rows are numbered. reorderings.cpp lists the ways to find that.
#pragma once

#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/partition/point_graph.hpp"

namespace nodewise::partition {

struct ReorderingMethod : MethodInfo {
  using Order = std::vector<LocalIndex> (*)(const PointGraph& graph);

  /// Whether rows get other numbers.
  Required<bool> renumbers;
  /// Whether all rows are put in order together, before a partition divides them; otherwise each
  /// rank's are, by the couplings among them, once the rank has them.
  Required<bool> of_all_ranks;
  /// Local. The points of a graph in their new order, by their old numbers: each once. Throws
  /// unsupported where a library is missing.
  Required<Order> order;

  static Family<ReorderingMethod>& family();
};

using Reordering = Choice<ReorderingMethod>;

}  // namespace nodewise::partition
