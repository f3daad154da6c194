// Units in which numbers of any size can be squared.
#pragma once

#include <algorithm>
#include <cmath>

namespace nodewise {

/// The power of two that brings a modulus into [1, 2), or nearly: its inverse is to be finite too.
/// 1 for zero and for what is not finite.
inline double scale_of(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
}

}  // namespace nodewise
