// Options of enlarged conjugate gradients.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::solve {

struct EnlargedCgOptions {
  int enlarging_factor = 4;  ///< parts that the residual is split into
};
std::span<const Field<EnlargedCgOptions>> enlarged_cg_fields();

}  // namespace nodewise::solve
