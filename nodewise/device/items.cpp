#include "nodewise/device/items.hpp"

#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

/// Of items that a number of the type holds.
template <class Item>
struct GatherItems {
  const LocalIndex* places;
  const Item* first;
  std::int64_t n_first;
  const Item* second;
  Item* to;
  NODEWISE_KERNEL void operator()(std::int64_t k) const {
    const std::int64_t place = load(places + k);
    to[k] = place < n_first ? load(first + place) : load(second + (place - n_first));
  }
};

/// Byte by byte.
struct GatherBytes {
  const LocalIndex* places;
  const unsigned char* first;
  std::int64_t n_first;
  const unsigned char* second;
  std::int64_t item_bytes;
  unsigned char* to;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const std::int64_t k = i / item_bytes;
    const std::int64_t place = load(places + k);
    const std::int64_t byte = i - k * item_bytes;
    to[i] = place < n_first ? load(first + place * item_bytes + byte)
                            : load(second + (place - n_first) * item_bytes + byte);
  }
};

template <class Item, class Space>
void gather_as(Queue<Space>& queue, std::int64_t n, const LocalIndex* places,
               const ItemArrays& from, std::byte* to) {
  launch(
      queue, n,
      GatherItems<Item>{places, reinterpret_cast<const Item*>(from.first), from.n_first,
                        reinterpret_cast<const Item*>(from.second), reinterpret_cast<Item*>(to)});
}

}  // namespace

template <class Space>
void gather_items(Queue<Space>& queue, std::int64_t n, const LocalIndex* places, ItemArrays from,
                  std::byte* to) {
  if (from.item_bytes == 8) return gather_as<unsigned long long>(queue, n, places, from, to);
  if (from.item_bytes == 4) return gather_as<unsigned>(queue, n, places, from, to);
  const auto bytes = static_cast<std::int64_t>(from.item_bytes);
  launch(queue, n * bytes,
         GatherBytes{places, reinterpret_cast<const unsigned char*>(from.first), from.n_first,
                     reinterpret_cast<const unsigned char*>(from.second), bytes,
                     reinterpret_cast<unsigned char*>(to)});
}

template void gather_items(Queue<Compiled>&, std::int64_t, const LocalIndex*, ItemArrays,
                           std::byte*);

}  // namespace nodewise::device
