// The grad-div problem by face elements.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::io::problems {

struct GradDivOptions {
  double alpha = 1;  ///< of the divergence
  double beta = 1;   ///< of the field itself
};

std::span<const Field<GradDivOptions>> grad_div_fields();

}  // namespace nodewise::io::problems
