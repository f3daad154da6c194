#include "nodewise/comm/route/node_mapping.hpp"

#include <algorithm>
#include <numeric>

namespace nodewise::comm::route {

std::vector<std::vector<int>> map_by_size(int /*node*/, std::span<const PartnerNode> partners,
                                          int n_ranks, Direction direction) {
  std::vector<std::size_t> order(partners.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return partners[a].entries != partners[b].entries ? partners[a].entries > partners[b].entries
                                                      : partners[a].node < partners[b].node;
  });
  std::vector<std::vector<int>> places(partners.size());
  const int each = partners.empty() ? 0 : std::max(1, n_ranks / static_cast<int>(partners.size()));
  int turn = 0;
  for (const std::size_t k : order) {
    for (int part = 0; part < each; ++part, turn = (turn + 1) % n_ranks) {
      places[k].push_back(direction == Direction::send ? turn : n_ranks - 1 - turn);
    }
  }
  return places;
}

}  // namespace nodewise::comm::route
