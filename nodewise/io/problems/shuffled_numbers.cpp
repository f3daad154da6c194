#include "nodewise/io/problems/shuffled_numbers.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

namespace {

constexpr std::uint64_t feistel_rounds = 4;

/// A permutation of the numbers of 2 * half_bits bits, or its inverse.
std::uint64_t feistel(std::uint64_t x, int half_bits, std::uint64_t key, bool back) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t high = x >> half_bits, low = x & mask;
  for (std::uint64_t k = 0; k < feistel_rounds; ++k) {
    if (back) {
      const std::uint64_t before = high;
      high = low ^ (hash64(before, key + feistel_rounds - 1 - k) & mask);
      low = before;
    } else {
      const std::uint64_t before = low;
      low = high ^ (hash64(before, key + k) & mask);
      high = before;
    }
  }
  return high << half_bits | low;
}

}  // namespace

void check_shuffled(int seed, int shuffled) {
  if (seed < 0) refuse_problem(fmt::format("seed is {}, needs >= 0", seed));
  if (shuffled < 1) refuse_problem(fmt::format("shuffled is {}, needs >= 1", shuffled));
}

GlobalIndex ShuffledNumbers::moved(GlobalIndex i, bool back) const {
  const GlobalIndex first = i / stretch_ * stretch_;
  const auto length = static_cast<std::uint64_t>(std::min(stretch_, n_ - first));
  if (length == 1) return i;
  const int half_bits = static_cast<int>(std::bit_width(length - 1) + 1) / 2;
  const std::uint64_t key = hash64(static_cast<std::uint64_t>(first), seed_);
  auto x = static_cast<std::uint64_t>(i - first);
  do {
    x = feistel(x, half_bits, key, back);
  } while (x >= length);
  return first + static_cast<GlobalIndex>(x);
}

}  // namespace nodewise::io::problems
