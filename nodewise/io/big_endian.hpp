// Numbers as they stand in big-endian files.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::io {

inline constexpr std::size_t big_endian_piece = std::size_t{1} << 17;  // numbers converted at once

template <class Number>
using BitsOf = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;

/// Local. The number whose bytes begin at `bytes`, the highest first.
template <class Number>
Number load_big_endian(const char* bytes) {
  BitsOf<Number> bits = 0;
  for (std::size_t b = 0; b < sizeof(Number); ++b) {
    bits = (bits << 8) | static_cast<unsigned char>(bytes[b]);
  }
  return std::bit_cast<Number>(bits);
}

template <class Number>
void store_big_endian(Number number, char* bytes) {
  auto bits = std::bit_cast<BitsOf<Number>>(number);
  for (std::size_t b = sizeof(Number); b-- > 0; bits >>= 8) {
    bytes[b] = static_cast<char>(bits & 0xff);
  }
}

/// Local. Fills `into` with numbers stored as Stored from `offset` on. `read(offset, bytes)` reads.
template <class Stored, class To, class Read>
void read_big_endian(Read&& read, Offset offset, std::span<To> into) {
  std::vector<char> piece(std::min(into.size(), big_endian_piece) * sizeof(Stored));
  for (std::size_t done = 0; done < into.size();) {
    const std::size_t count = std::min(into.size() - done, big_endian_piece);
    read(offset, std::span(piece).first(count * sizeof(Stored)));
    for (std::size_t k = 0; k < count; ++k) {
      into[done + k] = static_cast<To>(load_big_endian<Stored>(&piece[k * sizeof(Stored)]));
    }
    done += count;
    offset += static_cast<Offset>(count * sizeof(Stored));
  }
}

/// Collects numbers and passes them on in big-endian pieces. Local.
template <class Stored, class PassOn>
class BigEndianSink {
 public:
  explicit BigEndianSink(PassOn pass_on) : pass_on_(std::move(pass_on)) {
    piece_.reserve(big_endian_piece * sizeof(Stored));
  }
  void put(Stored number) {
    char bytes[sizeof(Stored)];
    store_big_endian(number, bytes);
    piece_.insert(piece_.end(), bytes, bytes + sizeof(Stored));
    if (piece_.size() == piece_.capacity()) flush();
  }
  void flush() {
    pass_on_(std::span<const char>(piece_));
    piece_.clear();
  }

 private:
  PassOn pass_on_;
  std::vector<char> piece_;
};

}  // namespace nodewise::io
