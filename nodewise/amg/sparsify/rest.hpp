// What a tolerance leaves of a coarse matrix, counted without making it.
#pragma once

#include <vector>

#include "nodewise/amg/sparsify/entry_worth.hpp"
#include "nodewise/comm/pattern.hpp"

namespace nodewise::amg::sparsify {

/// Of this rank, or of all that one process stands for.
struct Rest {
  /// Direct ones of a product; where points have several rows, as if all of a point were needed.
  std::vector<comm::Pattern> patterns;
  double most_nonzeros = 0;  ///< of a rank
  /// What rows lose of the sum of the norms of their off-diagonal blocks, added up over them.
  double losses = 0;
};

/// Local. What is left of A without the blocks that are worth less than the tolerance. `norms` has
/// their Frobenius norms, in the order of `worth`.
template <class T>
Rest rest_of(const matrix::DistMatrix<T>& A, const PointBlocks<T>& norms,
             const EntryWorth<T>& worth, T tolerance, const RowPlaces& places);

/// Local. The direct pattern that is left of one: of its ghosts those that are wanted, and of the
/// entries that it sends those that are worth no less than the tolerance to their receivers.
template <class T>
comm::Pattern pattern_of_rest(comm::Pattern pattern, const std::vector<char>& is_ghost_wanted,
                              const std::vector<T>& of_sent, T tolerance);

}  // namespace nodewise::amg::sparsify
