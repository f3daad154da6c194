// At which tolerance each entry of a coarse matrix goes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/sparsify/drop_rule.hpp"
#include "nodewise/amg/sparsify/point_blocks.hpp"

namespace nodewise::amg::sparsify {

/// The worth of the blocks of a coarse matrix: a tolerance drops what is worth less. It is the same
/// for (I, J) and (J, I), so that what is left is symmetric.
template <class T>
struct EntryWorth {
  PointBlocks<T> blocks;
  /// Of each entry that the matrix's direct pattern sends, the most that a block is worth for which
  /// the receiver needs it; of all rows of a point the same.
  std::vector<T> of_sent;

  /// Whether a block stays.
  bool keeps(LocalIndex row, Offset block, T tolerance) const {
    return blocks.column(block) == row || blocks.worth(block) >= tolerance;
  }
};

/// What decides on entries. Rules that are asked together refer to the same matrix.
template <class T>
struct WorthRules {
  const Choice<DropRule>& rule;
  const MinimalPattern<T>& minimal;  ///< where the rule keeps it
  /// Up to which the worth has to be known; of what is worth more that it is.
  T tolerance;
  bool guards_diagonal = false;  ///< whether dropped entries are added to the diagonal
  KeptVector<T> kept_vector = {};
  const RowPlaces& places;
};

/// Collective. What each rule says, or what it says of the block (J, I) if that is more. Always
/// kept is a block where there is no block (J, I). What the rules cost, and one reversed record
/// exchange of A for all of them. A failure of this rank alone is left in `failure`.
template <class T>
std::vector<EntryWorth<T>> entry_worths(const matrix::DistMatrix<T>& A, int unknowns,
                                        std::span<const WorthRules<T>> rules,
                                        std::optional<Error>& failure);

/// Collective. Blocks that a rank says are always kept are so on the other side, too: `always` has
/// their places, ascending; none has that worth yet. One reversed record exchange of A.
template <class T>
void keep_both(const matrix::DistMatrix<T>& A, std::span<const Offset> always, EntryWorth<T>& worth,
               std::optional<Error>& failure);

}  // namespace nodewise::amg::sparsify
