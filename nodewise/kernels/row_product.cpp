#include "nodewise/kernels/row_product.hpp"

#include <algorithm>
#include <array>

namespace nodewise::kernels {

bool ends_are_unpredictable(std::span<const Offset> row_ptr, LocalIndex first, LocalIndex last) {
  constexpr LocalIndex few = 1024;
  constexpr LocalIndex sample = 256;
  constexpr std::size_t kinds = 16;  // of lengths; longer ones count as the last
  if (last - first < few) return false;
  const LocalIndex begin = first + (last - first - sample) / 2;
  std::array<std::array<signed char, kinds>, kinds> followed = {};
  std::size_t before = 0, last_one = 0;
  int wrong = 0;
  for (LocalIndex i = begin; i < begin + sample; ++i) {
    const auto u = static_cast<std::size_t>(i);
    const auto length = std::min(static_cast<std::size_t>(row_ptr[u + 1] - row_ptr[u]), kinds - 1);
    signed char& guess = followed[before][last_one];
    wrong += guess != static_cast<signed char>(length);
    guess = static_cast<signed char>(length);
    before = last_one;
    last_one = length;
  }
  return wrong > 0.6 * sample;
}

}  // namespace nodewise::kernels
