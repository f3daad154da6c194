// Messages of varying length to or from some ranks.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::comm {

/// Messages of varying length: number i goes to, or came from, ranks[i] and holds
/// data[offsets[i] .. offsets[i + 1]). A message may be empty; it arrives all the same.
template <class T>
struct Messages {
  std::vector<int> ranks;
  std::vector<Offset> offsets = {0};
  std::vector<T> data;

  std::size_t size() const { return ranks.size(); }
  std::span<const T> message(std::size_t i) const {
    return std::span(data).subspan(static_cast<std::size_t>(offsets[i]),
                                   static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

/// Messages of `count` items each: number i holds data[i * count .. (i + 1) * count).
template <class T>
struct EqualMessages {
  std::vector<int> ranks;
  Offset count = 0;
  std::vector<T> data;

  std::size_t size() const { return ranks.size(); }
  std::span<const T> message(std::size_t i) const {
    return std::span(data).subspan(i * static_cast<std::size_t>(count),
                                   static_cast<std::size_t>(count));
  }
};

}  // namespace nodewise::comm
