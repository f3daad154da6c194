#include "nodewise/amg/relax/stretches.hpp"

namespace nodewise::amg::relax {

std::vector<Stretch> stretches(LocalIndex begin, std::span<const LocalIndex> ends,
                               std::span<const LocalIndex> last_seen) {
  std::vector<Stretch> passes;
  passes.reserve(ends.size());
  std::size_t done = 0;  // stretches of the second pass
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const bool is_last = k + 1 == ends.size();
    while (!is_last && done <= k && last_seen[done] < ends[k]) ++done;
    passes.push_back({ends[k], done == 0 ? begin : ends[done - 1]});
  }
  return passes;
}

}  // namespace nodewise::amg::relax
