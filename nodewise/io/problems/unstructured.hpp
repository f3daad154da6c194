// Poisson's equation on an irregular mesh.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::io::problems {

struct UnstructuredOptions {
  int seed = 0;
  int shuffled = 512;  ///< successive points whose numbers are shuffled
};

std::span<const Field<UnstructuredOptions>> unstructured_fields();

}  // namespace nodewise::io::problems
