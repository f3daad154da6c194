// Coarse points of a level on devices, and the interpolation from them.
#pragma once

#include "nodewise/device/extended_i.hpp"
#include "nodewise/offload/dist_product.hpp"

namespace nodewise::offload {

template <class Space>
struct CoarsePoints {
  comm::Layout layout;  ///< in the order of the points
  /// Of this rank's rows, then ghosts: the number among all, or device::fine_point, or
  /// isolated_point.
  device::Buffer<GlobalIndex, Space> numbers;
};

/// What a point depends on strongly.
struct DependenceRules {
  double threshold = 0.25;
  double max_row_sum = 1;
  bool absolute = false;
};

/// Collective. What amg::coarsen::pmis() makes of the same matrix. `halo` is that of A. The numbers
/// of dependants are added up through the host, in a reversed exchange; then one exchange of
/// weights, and one of states and an allreduce in each round, of which there are few, and one of
/// numbers. Throws the same Error on every rank.
template <class Space>
CoarsePoints<Space> find_coarse_points(const Workplace<Space>& at, const DistCsr<Space>& A,
                                       const Halo<double, Space>& halo,
                                       const DependenceRules& rules, int seed);

/// Collective. What amg::interpolate::extended_i() makes of a symmetric matrix, up to the order of
/// additions. It has no outline. Costs an exchange of diagonal entries and one of rows. Throws the
/// same Error on every rank.
template <class Space>
DistCsr<Space> interpolation(const Workplace<Space>& at, const DistCsr<Space>& A,
                             const Halo<double, Space>& halo, const CoarsePoints<Space>& points,
                             const DependenceRules& dependences, device::InterpolationRules rules);

}  // namespace nodewise::offload
