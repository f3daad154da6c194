// The numbers of the coarse points on the coarse grid.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/coarsen/independent_set.hpp"
#include "nodewise/base/array.hpp"

namespace nodewise::amg::coarsen {

/// In place of the number of a fine point: of one that depends on others, and of one that depends
/// on none, whose error relaxation alone removes.
enum : LocalIndex { fine_point = -1, isolated_point = -2 };

/// The numbers of coarse points on the coarse grid; negative for other points.
struct CoarseNumbers {
  Array<LocalIndex> local;          ///< of this rank's points: local numbers
  std::vector<GlobalIndex> ghosts;  ///< of the matrix's ghosts: global ones
};

/// Collective. Local points by counting, ghosts by asking their owners: one exchange of A.
template <class T>
CoarseNumbers coarse_numbers(const matrix::DistMatrix<T>& A, const Splitting& splitting,
                             const Strength& strength, const comm::Layout& coarse_points) {
  Array<GlobalIndex> global(splitting.size());
  CoarseNumbers numbers;
  numbers.local.resize(splitting.size());
  LocalIndex next = 0;
  for (std::size_t i = 0; i < splitting.size(); ++i) {
    if (splitting[i] == coarse) {
      numbers.local[i] = next;
      global[i] = coarse_points.to_global(next++);
    } else {
      const bool depends = has_dependences(A, strength, static_cast<LocalIndex>(i));
      numbers.local[i] = depends ? fine_point : isolated_point;
      global[i] = numbers.local[i];
    }
  }
  numbers.ghosts.resize(static_cast<std::size_t>(A.n_ghosts()));
  A.exchange().forward(std::span<const GlobalIndex>(global), std::span(numbers.ghosts));
  return numbers;
}

}  // namespace nodewise::amg::coarsen
