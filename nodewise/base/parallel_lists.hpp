// Lists of indices that several threads go through, and shorten.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "nodewise/base/parallel.hpp"

namespace nodewise::parallel {

/// Local. Calls f(item) for the items of a list, each worth `work` entries of a matrix, in the
/// order of the list within a thread.
template <class Item, class F>
void for_each(std::span<const Item> list, std::size_t work, const F& f) {
  const int parts = parts_of(list.size() * work);
  run(parts, [&](int part) {
    const std::size_t end = equal_part(list.size(), parts, part + 1);
    for (std::size_t k = equal_part(list.size(), parts, part); k < end; ++k) f(list[k]);
  });
}

/// Local. Takes the items for which is_done(item) out of the list, which keeps its order. Every
/// item is asked once, so that the question may change what belongs to this item alone.
template <class Item, class IsDone>
void erase_if(std::vector<Item>& list, std::size_t work, const IsDone& is_done) {
  const int parts = parts_of(list.size() * work);
  if (parts == 1) {
    std::erase_if(list, is_done);
    return;
  }
  const auto place = [&](int part) {
    return list.begin() + static_cast<std::ptrdiff_t>(equal_part(list.size(), parts, part));
  };
  std::array<typename std::vector<Item>::iterator, max_threads> kept;
  run(parts, [&](int part) {
    kept[static_cast<std::size_t>(part)] = std::remove_if(place(part), place(part + 1), is_done);
  });
  auto end = kept[0];
  for (int part = 1; part < parts; ++part) {
    end = std::move(place(part), kept[static_cast<std::size_t>(part)], end);
  }
  list.erase(end, list.end());
}

/// Local. The indices below n for which is_in(index), ascending; every index is asked once.
template <class Item, class IsIn>
std::vector<Item> indices_if(std::size_t n, std::size_t work, const IsIn& is_in) {
  std::vector<Item> list(n);
  std::iota(list.begin(), list.end(), Item{});
  erase_if(list, work, [&](Item i) { return !is_in(i); });
  return list;
}

/// Numbers that threads share while a loop runs. Their values in between must not matter, except
/// those that no thread changes.
template <class Number>
Number load(Number& number) noexcept {
  return std::atomic_ref<Number>(number).load(std::memory_order_relaxed);
}
template <class Number>
void store(Number& number, std::type_identity_t<Number> value) noexcept {
  std::atomic_ref<Number>(number).store(value, std::memory_order_relaxed);
}

/// Adds one to a counter that other threads may be adding to as well.
template <class Counter>
void count(Counter& counter) noexcept {
  std::atomic_ref<Counter>(counter).fetch_add(Counter{1}, std::memory_order_relaxed);
}

}  // namespace nodewise::parallel
