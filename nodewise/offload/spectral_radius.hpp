// The spectral radius of a matrix on devices, scaled by its diagonal.
#pragma once

#include "nodewise/offload/dist_product.hpp"

namespace nodewise::offload {

/// Collective. What amg::spectral_radius() finds for a symmetric matrix, up to round-off: so many
/// steps of Lanczos, whose vectors stay on the devices. `product` is A in another layout. One
/// product and one allreduce a step; each waits for the device. Throws the same Error on every
/// rank.
template <class Space>
double spectral_radius(const Workplace<Space>& at, const DistCsr<Space>& A,
                       const DistProduct<double, Space>& product, int steps, int seed);

}  // namespace nodewise::offload
