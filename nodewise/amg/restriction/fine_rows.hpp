// The equations around coarse points, as a restriction sees them: of each row what couples it to
// fine points.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"

namespace nodewise::amg::restriction {

/// Points are numbered locally: this rank's own, the ghosts of the matrix, then others as rows
/// name them. Rows have columns that ascend by global index, wherever their points live.
template <class T>
class FineRows {
 public:
  /// Local. The arguments must outlive it.
  FineRows(const matrix::DistMatrix<T>& A, const Strength& strength,
           const coarsen::Splitting& splitting);

  /// Collective. Makes the rows of this rank's points, coarse ones too, and brings those of the
  /// fine points among the ghosts: an exchange of A for vectors and one for records.
  void bring_ghost_rows();
  /// Collective. Brings the rows of fine points that other ghosts' rows name, where a coarse point
  /// of this rank depends on the ghost and the ghost on the point: the pattern is discovered and
  /// planned for A's route, then one exchange of records.
  void bring_far_rows();

  /// The number of points.
  LocalIndex size() const { return points_.size(); }
  GlobalIndex global(LocalIndex point) const { return points_.global(point); }
  const std::vector<GlobalIndex>& ghosts() const { return points_.ghosts(); }

  /// Calls f(fine point, value, is strong) for the entries of a row; none if it was not brought.
  template <class F>
  void for_each_entry(LocalIndex point, F&& f) const {
    const auto u = static_cast<std::size_t>(point);
    if (u >= ranges_.size()) return;
    for (std::size_t k = ranges_[u].begin; k < ranges_[u].end; ++k) {
      f(cols_[k], vals_[k], strong_[k] != 0);
    }
  }

 private:
  /// An entry as it travels: 2 * global column + whether it is strong.
  struct Coupling {
    GlobalIndex code;
    T value;
  };
  using Couplings = comm::Records<Coupling>;
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void share_fine_points();
  void append_local_rows();
  Couplings outgoing(comm::Exchange& exchange) const;
  void append_row(LocalIndex point, std::span<const Coupling> couplings);
  std::vector<GlobalIndex> find_far_points() const;

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  const coarsen::Splitting& splitting_;
  matrix::GhostNumbering points_;
  std::vector<std::int8_t> ghost_states_;
  std::vector<Range> ranges_;  // of the points; those behind the last have no row
  std::vector<LocalIndex> cols_;
  std::vector<T> vals_;
  std::vector<std::uint8_t> strong_;
};

}  // namespace nodewise::amg::restriction
