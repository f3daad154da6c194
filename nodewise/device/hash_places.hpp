// Hash tables of columns, which the threads of a group fill together.
#pragma once

#include "nodewise/device/atomics.hpp"
#include "nodewise/device/groups.hpp"

namespace nodewise::device {

inline constexpr LocalIndex no_column = -1;

/// Columns at places found by their hashes, linear probing. There are `mask` + 1 places, a power of
/// two, and never as many columns.
class HashPlaces {
 public:
  NODEWISE_KERNEL HashPlaces(LocalIndex* columns, std::uint32_t mask)
      : columns_(columns), mask_(mask) {}

  /// All places become free. The group has to sync() before it adds.
  template <class G>
  NODEWISE_KERNEL void clear(const G& group) const {
    for (std::int64_t s = group.rank(); s <= mask_; s += group.size()) columns_[s] = no_column;
  }
  /// The place of a column, which is added where it was not there; that counts in `added`.
  NODEWISE_KERNEL std::uint32_t add(LocalIndex column, LocalIndex& added) const {
    for (std::uint32_t s = first(column);; s = (s + 1) & mask_) {
      LocalIndex there = columns_[s];
      if (there == no_column) {
        there = exchange_if(columns_ + s, no_column, column);
        if (there == no_column) {
          ++added;
          return s;
        }
      }
      if (there == column) return s;
    }
  }
  /// The place of a column; none() where it is not there.
  NODEWISE_KERNEL std::uint32_t find(LocalIndex column) const {
    for (std::uint32_t s = first(column);; s = (s + 1) & mask_) {
      if (columns_[s] == column) return s;
      if (columns_[s] == no_column) return none();
    }
  }
  NODEWISE_KERNEL std::uint32_t none() const { return mask_ + 1; }

 private:
  /// Multiplicative hashing (Knuth 1973, section 6.4), by 2^32 over the golden ratio.
  NODEWISE_KERNEL std::uint32_t first(LocalIndex column) const {
    const std::uint32_t h = static_cast<std::uint32_t>(column) * 2654435769u;
    return (h ^ (h >> 15)) & mask_;
  }

  LocalIndex* columns_;
  std::uint32_t mask_;
};

}  // namespace nodewise::device
