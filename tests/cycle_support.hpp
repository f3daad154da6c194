// What a cycle of a hierarchy makes of a vector that is the same on any number of ranks.
#pragma once

#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/hash.hpp"

namespace nodewise::test {

/// Collective. This rank's part of one cycle for hashed numbers from -0.5 to 0.5.
template <class T>
std::vector<T> one_cycle(const amg::Hierarchy<T>& hierarchy, std::uint64_t seed = 7) {
  const comm::Layout& rows = hierarchy.layout();
  std::vector<T> b, x(static_cast<std::size_t>(rows.n_local()), 0);
  for (GlobalIndex i = rows.begin(); i < rows.end(); ++i) {
    b.push_back(static_cast<T>(hash_uniform(static_cast<std::uint64_t>(i), seed) - 0.5));
  }
  hierarchy.apply(b, x);
  return x;
}

}  // namespace nodewise::test
