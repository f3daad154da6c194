// Shortening the rows of an interpolation.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::amg::interpolate {

/// Local. Drops the entries of one row below `truncation` times its largest modulus, then all but
/// the `max_entries` largest (0: keeps any number), and scales the rest to the sum the row had.
/// Ties are decided by the column. cols and vals hold `n` entries; returns how many remain.
template <class T>
Offset truncate_row(LocalIndex* cols, T* vals, Offset n, int max_entries, double truncation) {
  if (n == 0) return 0;
  T sum{};
  T largest{};
  for (Offset k = 0; k < n; ++k) {
    sum += vals[k];
    largest = std::max(largest, std::abs(vals[k]));
  }
  Offset kept = 0;
  const T bound = static_cast<T>(truncation) * largest;
  for (Offset k = 0; k < n; ++k) {
    if (std::abs(vals[k]) < bound) continue;
    cols[kept] = cols[k];
    vals[kept++] = vals[k];
  }
  const Offset limit = max_entries > 0 ? std::min<Offset>(kept, max_entries) : kept;
  // A partial selection sort: limit is 4 or 5, the row seldom longer than 20. Written for
  // conditional moves: which is larger cannot be foreseen.
  for (Offset k = 0; limit < kept && k < limit; ++k) {
    Offset best = k;
    T best_size = std::abs(vals[k]);
    LocalIndex best_col = cols[k];
    for (Offset m = k + 1; m < kept; ++m) {
      const T size = std::abs(vals[m]);
      const bool is_better = (size > best_size) | ((size == best_size) & (cols[m] < best_col));
      best = is_better ? m : best;
      best_col = is_better ? cols[m] : best_col;
      best_size = std::max(best_size, size);
    }
    std::swap(cols[k], cols[best]);
    std::swap(vals[k], vals[best]);
  }
  if (limit == n) return n;
  T remaining{};
  for (Offset k = 0; k < limit; ++k) remaining += vals[k];
  // A row whose remaining entries cancel out cannot be scaled to its old sum.
  const T scale = std::abs(remaining) > T(1e-3) * largest ? sum / remaining : T{1};
  for (Offset k = 0; k < limit; ++k) vals[k] *= scale;
  return limit;
}

}  // namespace nodewise::amg::interpolate
