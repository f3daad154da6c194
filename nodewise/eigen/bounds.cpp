#include "nodewise/eigen/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nodewise::eigen {

void set_quadratic_bounds(std::span<Eigenpair> pairs, std::optional<double> beyond) {
  for (Eigenpair& pair : pairs) pair.quadratic_bound.reset();
  const std::size_t n = pairs.size();
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    double square = 0;
    for (end = begin; end < n; ++end) {
      const bool touches = end > begin && pairs[end].value - pairs[end].bound <=
                                              pairs[end - 1].value + pairs[end - 1].bound;
      if (end > begin && !touches) break;
      square += pairs[end].bound * pairs[end].bound;
    }
    if (end == n && !beyond) return;
    const double next = end == n ? *beyond : pairs[end].value - pairs[end].bound;
    double gap = next - pairs[end - 1].value;
    if (begin > 0) {
      gap = std::min(gap, pairs[begin].value - pairs[begin - 1].value - pairs[begin - 1].bound);
    }
    if (!(gap > 0) || !std::isfinite(square)) continue;
    for (std::size_t c = begin; c < end; ++c) {
      pairs[c].quadratic_bound = std::min(pairs[c].bound, square / gap);
    }
  }
}

}  // namespace nodewise::eigen
