// A matrix of hashed columns and values.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::io::problems {

struct RandomOptions {
  int entries = 8;  ///< off-diagonal entries a row
  int seed = 0;
};

std::span<const Field<RandomOptions>> random_fields();

}  // namespace nodewise::io::problems
