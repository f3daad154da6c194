#include "nodewise/base/hash.hpp"

#include <cmath>
#include <numbers>

namespace nodewise {

double hash_normal(std::uint64_t key, std::uint64_t seed) noexcept {
  const double u = 1.0 - hash_uniform(key, 2 * seed);  // in (0, 1], so that the logarithm is finite
  const double v = hash_uniform(key, 2 * seed + 1);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace nodewise
