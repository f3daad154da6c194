// The entries of a matrix by points: what is dropped as a whole.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/row_entries.hpp"

namespace nodewise::amg::sparsify {

using matrix::for_each_entry;

/// The blocks of a square matrix, of whose rows each point has as many: block (I, J) holds the
/// entries of point I's rows in point J's columns. Points of this rank are numbered first, then
/// those of the ghosts, ascending; blocks ascend in every row. Where a point has one row, blocks
/// are entries, in the order of for_each_entry().
template <class T>
class PointBlocks {
 public:
  PointBlocks() = default;
  /// Local. The rows of A must come in whole points of `unknowns` rows. Each block's worth is its
  /// Frobenius norm.
  PointBlocks(const matrix::DistMatrix<T>& A, int unknowns);

  int unknowns() const { return unknowns_; }
  bool are_entries() const { return unknowns_ == 1; }
  LocalIndex n_points() const { return n_points_; }
  LocalIndex n_all() const { return n_points_ + static_cast<LocalIndex>(ghost_points_.size()); }
  /// The point of a column: of this rank's, or of ghost g as n_cols + g.
  LocalIndex point_of(LocalIndex column) const {
    if (are_entries()) return column;
    const LocalIndex n = n_points_ * unknowns_;
    return column < n ? column / unknowns_
                      : n_points_ + point_of_ghost_[static_cast<std::size_t>(column - n)];
  }
  /// The number of a point among those of all ranks.
  GlobalIndex global(LocalIndex point) const {
    return point < n_points_ ? first_point_ + point
                             : ghost_points_[static_cast<std::size_t>(point - n_points_)];
  }
  /// The number here of a point, or -1 where it is neither this rank's nor a ghost.
  LocalIndex local(GlobalIndex point) const;
  /// The first ghost of a ghost point.
  LocalIndex first_ghost(LocalIndex point) const {
    return first_ghost_[static_cast<std::size_t>(point - n_points_)];
  }

  Offset begin(LocalIndex point) const { return begins_[static_cast<std::size_t>(point)]; }
  Offset end(LocalIndex point) const { return begins_[static_cast<std::size_t>(point) + 1]; }
  LocalIndex column(Offset block) const { return columns_[static_cast<std::size_t>(block)]; }
  T& worth(Offset block) { return worth_[static_cast<std::size_t>(block)]; }
  T worth(Offset block) const { return worth_[static_cast<std::size_t>(block)]; }
  /// The place of block (I, J), or -1 where there is none.
  Offset find(LocalIndex row, LocalIndex column) const;
  std::span<const Offset> begins() const { return begins_; }

 private:
  void take_entries(const matrix::DistMatrix<T>& A);
  void number_ghosts(const matrix::DistMatrix<T>& A);
  void append_row(const matrix::DistMatrix<T>& A, LocalIndex point, std::vector<Offset>& place);
  void finish_norms(Offset begin);

  int unknowns_ = 1;
  LocalIndex n_points_ = 0;
  GlobalIndex first_point_ = 0;
  std::vector<GlobalIndex> ghost_points_;
  std::vector<LocalIndex> point_of_ghost_, first_ghost_;
  std::vector<Offset> begins_ = {0};
  std::vector<LocalIndex> columns_;
  std::vector<T> worth_;
};

/// The worth of a block that no tolerance drops.
template <class T>
constexpr T always_kept = std::numeric_limits<T>::infinity();

}  // namespace nodewise::amg::sparsify
