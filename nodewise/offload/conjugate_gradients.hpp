// Conjugate gradients with a cycle of multigrid, on a device.
#pragma once

#include <memory>

#include "nodewise/offload/device_method.hpp"

namespace nodewise::offload {

/// DeviceMethod::make for a space: the finest matrix in double precision, the cycle in the
/// precisions that the hierarchy has.
template <class Space>
std::unique_ptr<DeviceSolver> make_device_solver(const DeviceCall& call);

}  // namespace nodewise::offload
