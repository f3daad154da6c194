// Aggregates of a level on devices, and the prolongator that they make.
#pragma once

#include "nodewise/offload/dist_product.hpp"

namespace nodewise::offload {

template <class Space>
struct Aggregates {
  comm::Layout layout;                          ///< in the order of their roots
  device::Buffer<GlobalIndex, Space> of_point;  ///< of this rank's rows, then ghosts; -1: in none
};

/// What an independent set is found by.
struct SetRules {
  double threshold = 0;  ///< below which entries are weak
  int distance = 2;
  int seed = 0;
};

/// Collective. What amg::aggregate::independent_set_aggregates() makes of the same matrix, whose
/// rows are points. `halo` is that of A. `distance` exchanges and an allreduce a round of the set,
/// of which there are few, and `distance` exchanges more. Throws the same Error on every rank.
template <class Space>
Aggregates<Space> find_aggregates(const Workplace<Space>& at, const DistCsr<Space>& A,
                                  const Halo<double, Space>& halo, const SetRules& rules);

/// A prolongator with one entry in the row of each point of an aggregate, and the near null space
/// that belongs to its columns.
template <class Space>
struct Tentative {
  DistCsr<Space> P;                             ///< with a direct outline
  device::Buffer<double, Space> coarse_vector;  ///< has room for P's ghosts
};

/// Collective. What amg::aggregate::tentative_prolongator() makes of one vector of this layout: the
/// column of an aggregate is the vector's part there at unit length, which is the coarse vector's
/// number. Zero where that part is zero. Costs an outline, a transpose and an exchange. Throws the
/// same Error on every rank.
template <class Space>
Tentative<Space> tentative_prolongator(const Workplace<Space>& at, const comm::Layout& rows,
                                       const Aggregates<Space>& aggregates, const double* vector);

}  // namespace nodewise::offload
