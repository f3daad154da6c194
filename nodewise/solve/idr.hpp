// Options of IDR(s).
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::solve {

struct IdrOptions {
  int idr_dimension = 4;  ///< of the shadow space
};
std::span<const Field<IdrOptions>> idr_fields();

}  // namespace nodewise::solve
