// The condition number of a matrix whose levels were set up on a device.
#pragma once

#include "nodewise/offload/setup_levels.hpp"

namespace nodewise::offload {

/// Collective. What amg::estimated_condition() finds for such levels, up to round-off; the last one
/// must be solved directly. All but two vectors of the last level stays on the device. Throws the
/// same Error on every rank.
template <class Space>
double estimated_condition(const SetUpLevels<Space>& from);

}  // namespace nodewise::offload
