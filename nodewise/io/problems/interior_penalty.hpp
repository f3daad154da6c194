// Discontinuous elements on a grid, coupled across faces by symmetric interior penalties.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::io::problems {

struct PenaltyOptions {
  double penalty = 4;  ///< (order + 1)^2, as MFEM has it
};

std::span<const Field<PenaltyOptions>> penalty_fields();

}  // namespace nodewise::io::problems
