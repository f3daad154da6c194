// Items of any size on a device, put side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nodewise/base/types.hpp"
#include "nodewise/device/queue.hpp"

namespace nodewise::device {

/// Two arrays of items of item_bytes each, counted as one: n_first of the first, then the second's.
/// Both are of a space, and aligned to their items where these have 4 or 8 bytes.
struct ItemArrays {
  const std::byte* first = nullptr;
  std::int64_t n_first = 0;
  const std::byte* second = nullptr;
  std::size_t item_bytes = 0;
};

/// Local. Item k of `to` becomes item places[k] of the arrays, k < n. One kernel.
template <class Space>
void gather_items(Queue<Space>& queue, std::int64_t n, const LocalIndex* places, ItemArrays from,
                  std::byte* to);

}  // namespace nodewise::device
