// The one list of interpolations. Each is described at the end of its own file.
#include "nodewise/amg/interpolate/interpolation_method.hpp"

namespace nodewise::amg {

const InterpolationMethod& extended_i_interpolation();
const InterpolationMethod& extended_interpolation();
const InterpolationMethod& standard_interpolation();
const InterpolationMethod& modified_classical_interpolation();
const InterpolationMethod& classical_interpolation();
const InterpolationMethod& direct_interpolation();
const InterpolationMethod& multipass_interpolation();
const InterpolationMethod& one_point_interpolation();

Family<InterpolationMethod>& InterpolationMethod::family() {
  static Family<InterpolationMethod> interpolations(
      "interpolation",
      {&extended_i_interpolation(), &extended_interpolation(), &standard_interpolation(),
       &modified_classical_interpolation(), &classical_interpolation(), &direct_interpolation(),
       &multipass_interpolation(), &one_point_interpolation()},
      {"automatic", "extended_i; one_point with method air"});
  return interpolations;
}

}  // namespace nodewise::amg
