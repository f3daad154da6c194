// Options of GMRES and flexible GMRES.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::solve {

struct GmresOptions {
  int restart = 50;  ///< basis vectors kept
};
std::span<const Field<GmresOptions>> gmres_fields();

}  // namespace nodewise::solve
