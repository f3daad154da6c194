// Options of LOBPCG.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::eigen {

struct LobpcgOptions {
  /// Vectors that are improved together: the pairs, and more that help these to converge; 0: half
  /// as many again, 2 to 8 more.
  int block_size = 0;
};
std::span<const Field<LobpcgOptions>> lobpcg_fields();

}  // namespace nodewise::eigen
