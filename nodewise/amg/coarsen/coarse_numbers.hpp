// Where the coarse points are on the coarse grid.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/coarsen/splitting.hpp"

namespace nodewise::amg::coarsen {

/// The numbers of coarse points on the coarse grid; -1 for other points.
struct CoarseNumbers {
  std::vector<LocalIndex> local;    ///< of this rank's points: local numbers
  std::vector<GlobalIndex> ghosts;  ///< of the matrix's ghosts: global ones
};

/// Collective. Local points by counting, ghosts by asking their owners: one exchange of A.
template <class T>
CoarseNumbers coarse_numbers(const matrix::DistMatrix<T>& A, const Splitting& splitting,
                             const comm::Layout& coarse_points) {
  std::vector<GlobalIndex> global(splitting.size(), -1);
  CoarseNumbers numbers;
  numbers.local.assign(splitting.size(), -1);
  LocalIndex next = 0;
  for (std::size_t i = 0; i < splitting.size(); ++i) {
    if (splitting[i] != coarse) continue;
    numbers.local[i] = next;
    global[i] = coarse_points.to_global(next++);
  }
  numbers.ghosts.resize(static_cast<std::size_t>(A.n_ghosts()));
  A.exchange().forward(std::span<const GlobalIndex>(global), std::span(numbers.ghosts));
  return numbers;
}

}  // namespace nodewise::amg::coarsen
