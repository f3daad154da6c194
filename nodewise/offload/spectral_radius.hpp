// The spectral radius of a matrix on a device, scaled by its diagonal.
#pragma once

#include "nodewise/device/csr_matrix.hpp"
#include "nodewise/device/sell.hpp"

namespace nodewise::offload {

/// Local, for one rank. What amg::spectral_radius() finds for a symmetric matrix, up to round-off:
/// so many steps of Lanczos, whose vectors stay on the device. `product` is A in another layout.
/// Waits twice a step.
template <class Space>
double spectral_radius(device::Queue<Space>& queue, const device::CsrMatrix<double, Space>& A,
                       const device::SellMatrix<double, Space>& product, int steps, int seed);

}  // namespace nodewise::offload
