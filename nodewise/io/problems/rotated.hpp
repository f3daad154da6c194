// Diffusion that is strong in one direction, which is turned against the grid.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::io::problems {

/// The tensor is K = Q diag(1, epsilon) Q^T with Q = [cos(angle) -sin(angle); sin(angle)
/// cos(angle)] in the axes (slow, fast): with angle 0 the strong direction couples points n apart.
struct RotatedOptions {
  double angle = 0.39269908169872414;  ///< radians (default pi / 8) from slow axis to strong
                                       ///< direction
  double epsilon = 0.001;              ///< diffusion in the weak direction
};

std::span<const Field<RotatedOptions>> rotated_fields();

/// Of the field `angle`, which the rotated and the convection problems have.
inline constexpr const char* angle_meaning =
    "Radians by which the strong direction of the rotated problems, or the constant flow of the "
    "convection problems, is turned";

}  // namespace nodewise::io::problems
