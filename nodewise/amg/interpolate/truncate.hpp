// Shortening the rows of an interpolation.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "nodewise/base/types.hpp"

namespace nodewise::amg::interpolate {

/// The greater, the larger the modulus, and of several entries that differ by no more than rounding
/// the lower the column, or the higher: the modulus to 20 bits, and the column.
inline std::uint64_t order_of(double value, LocalIndex col, bool lowest) {
  constexpr std::uint64_t half = std::uint64_t{1} << 31;
  const std::uint64_t modulus = (std::bit_cast<std::uint64_t>(std::abs(value)) + half) >> 32;
  const auto column = static_cast<std::uint32_t>(col);
  return modulus << 32 | (lowest ? ~column : column);
}

/// Local. Drops the entries of one row below `truncation` times its largest modulus, then all but
/// the `max_entries` largest (0: keeps any number), and scales the rest to the sum the row had. Of
/// equal entries those at the lowest and at the highest columns are kept in turn. On a grid these
/// lie on opposite sides of the point; the lowest alone lie all on one side. cols and vals hold `n`
/// entries; column j has the place order[j] among the columns, or j where order is empty. Returns
/// how many remain.
template <class T>
Offset truncate_row(LocalIndex* cols, T* vals, Offset n, int max_entries, double truncation,
                    std::span<const LocalIndex> order = {}) {
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
  const auto place = [&](LocalIndex col) {
    return order.empty() ? col : order[static_cast<std::size_t>(col)];
  };
  // A partial selection sort: limit is 4 or 5, the row seldom longer than 20. Written for
  // conditional moves: which is larger cannot be foreseen.
  for (Offset k = 0; limit < kept && k < limit; ++k) {
    const bool lowest = k % 2 == 0;
    Offset best = k;
    std::uint64_t best_order = order_of(vals[k], place(cols[k]), lowest);
    for (Offset m = k + 1; m < kept; ++m) {
      const std::uint64_t other = order_of(vals[m], place(cols[m]), lowest);
      best = other > best_order ? m : best;
      best_order = std::max(best_order, other);
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
