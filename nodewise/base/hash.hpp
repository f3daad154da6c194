// Pseudo-random numbers as pure functions of an index, so that they do not depend on the ranks.
#pragma once

#include <cstdint>

namespace nodewise {

/// Local. A 64-bit mix of (key, seed): the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t hash64(std::uint64_t key, std::uint64_t seed = 0) noexcept {
  std::uint64_t z = key + (seed + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Local. A number in [0, 1) drawn from (key, seed).
constexpr double hash_uniform(std::uint64_t key, std::uint64_t seed = 0) noexcept {
  return static_cast<double>(hash64(key, seed) >> 11) * 0x1.0p-53;
}

/// Local. A standard normal number drawn from (key, seed), by the Box-Muller transform.
double hash_normal(std::uint64_t key, std::uint64_t seed = 0) noexcept;

}  // namespace nodewise
