// Options of thick-restart Lanczos.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::eigen {

struct LanczosOptions {
  int basis = 0;  ///< vectors before a restart; 0: 2 pairs + 20, but 40 at least
  /// Whether, when all have converged, a new random vector is followed until it shows that no copy
  /// of a multiple eigenvalue is missing.
  bool look_again = true;
};
std::span<const Field<LanczosOptions>> lanczos_fields();

}  // namespace nodewise::eigen
