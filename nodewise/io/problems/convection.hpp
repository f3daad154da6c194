// Convection and diffusion, by upwind differences.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::io::problems {

/// The velocity v on the unit square, in the axes (slow, fast). In space these are the two slower
/// ones, and along the fastest v is 1.
enum class Flow {
  constant,      ///< (cos(angle), sin(angle))
  rotating,      ///< (-y, x): in arcs around a corner, in at one side and out at another
  recirculating  ///< 2 (Y (1 - X^2), -X (1 - Y^2)), X = 2 x - 1, Y = 2 y - 1: closed lines
};

struct ConvectionOptions {
  double angle = 0.39269908169872414;  ///< radians (default pi / 8) from slow axis to flow
  double diffusion = 0.001;            ///< the velocity is about one
  Flow flow = Flow::constant;
};

std::span<const Field<ConvectionOptions>> convection_fields();

}  // namespace nodewise::io::problems
