// The rows that count as those of one rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "nodewise/base/types.hpp"

namespace nodewise::amg::coarsen {

/// Local rows that follow each other.
struct RankRows {
  std::size_t first, last;

  bool contains(std::size_t row) const { return row >= first && row < last; }
};

/// Local. Those of the rank of a row, or of its block: `blocks` are the starts of ranges of local
/// rows and the end of the last; none: the rank of n rows is one block.
inline RankRows rank_rows(std::span<const GlobalIndex> blocks, std::size_t n, LocalIndex row) {
  if (blocks.empty()) return {0, n};
  const auto end = std::upper_bound(blocks.begin(), blocks.end(), GlobalIndex{row});
  return {static_cast<std::size_t>(*(end - 1)), static_cast<std::size_t>(*end)};
}

}  // namespace nodewise::amg::coarsen
