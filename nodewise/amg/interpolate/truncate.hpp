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
  const auto before = [&](Offset a, Offset b) {
    const T va = std::abs(vals[a]);
    const T vb = std::abs(vals[b]);
    return va != vb ? va > vb : cols[a] < cols[b];
  };
  const Offset limit = max_entries > 0 ? std::min<Offset>(kept, max_entries) : kept;
  if (limit < kept) {
    // A partial selection sort: limit is 4 or 5, the row seldom longer than 20.
    for (Offset k = 0; k < limit; ++k) {
      Offset best = k;
      for (Offset m = k + 1; m < kept; ++m) {
        if (before(m, best)) best = m;
      }
      std::swap(cols[k], cols[best]);
      std::swap(vals[k], vals[best]);
    }
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
