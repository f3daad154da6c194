// A matrix of hashed columns and values.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::io::problems {

struct RandomOptions {
  int entries = 8;  ///< off-diagonal entries a row
  int within = 0;   ///< columns lie so near their row, but for far ones; 0: anywhere
  int far = 0;      ///< entries of a row that lie anywhere all the same
  int seed = 0;
};

std::span<const Field<RandomOptions>> random_fields();

}  // namespace nodewise::io::problems
