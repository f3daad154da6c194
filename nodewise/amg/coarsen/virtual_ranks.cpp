#include "nodewise/amg/coarsen/virtual_ranks.hpp"

#include <algorithm>

namespace nodewise::amg {

std::vector<GlobalIndex> virtual_coarse_starts(std::span<const GlobalIndex> starts,
                                               std::span<const LocalIndex> coarse_rows) {
  std::vector<GlobalIndex> coarse_starts;
  coarse_starts.reserve(starts.size());
  auto at = coarse_rows.begin();
  for (const GlobalIndex start : starts) {
    at = std::lower_bound(at, coarse_rows.end(), start);
    coarse_starts.push_back(at - coarse_rows.begin());
  }
  return coarse_starts;
}

}  // namespace nodewise::amg
