// Where the rows of a matrix go, and in which order: all of them put in order, a partition, the
// placement of its parts, and each rank's rows put in order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nodewise/comm/row_move.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/partition/division.hpp"
#include "nodewise/partition/reordering_method.hpp"

namespace nodewise::partition {

struct ArrangementOptions {
  DivisionOptions division;
  Reordering reorder = "none";

  /// Whether rows stay as they are.
  bool is_plain() const { return division.is_plain() && !reorder->renumbers; }
};

/// How far apart points are that are coupled, by their numbers: at most, within a rank or, where
/// all are put in order together, over all.
struct ReorderingGain {
  GlobalIndex bandwidth_before = 0;
  GlobalIndex bandwidth_after = 0;
};

class Arrangement {
 public:
  using Matrix = matrix::DistMatrix<double>;

  /// Collective, unless options.is_plain(). Where ranks are virtual the task's matrix is on one
  /// rank, the only one, and its rows come to lie one virtual rank after the other. Throws the same
  /// Error on every rank: what divide() and the reordering do, and unsupported where all rows are
  /// to be put in order and are more than one rank can have.
  Arrangement(const ArrangementOptions& options, const PartitionTask& task);

  /// Local. Whether rows change their ranks or their numbers.
  bool moves() const { return !moves_.empty(); }
  /// Local. The moves that do that, one after the other.
  std::span<const comm::RowMove> steps() const { return moves_; }
  /// Local. Where the rows of each virtual rank begin, and the last end; empty for real ranks.
  const std::vector<GlobalIndex>& virtual_starts() const { return virtual_starts_; }
  /// Local. Whether a partition pays; nothing where that was not asked.
  const std::optional<PartitionDecision>& decision() const { return decision_; }
  /// Local. What the placement of the parts gained; nothing where none was asked for.
  const std::optional<PlacementGain>& placement() const { return placement_; }
  /// Local. What the order gained; nothing where none was asked for.
  const std::optional<ReorderingGain>& reordering() const { return reordering_; }

  /// Collective, and so is what follows; where something moves. The matrix with its rows and
  /// columns there.
  Matrix there(const Matrix& A) const;
  /// What is `width` numbers for each row as they were, for the rows there; and back.
  template <class T>
  std::vector<T> there(std::span<const T> x, int width = 1) const;
  template <class T>
  void back(std::span<const T> y, std::span<T> x, int width = 1) const;

 private:
  std::vector<comm::RowMove> moves_;
  std::vector<GlobalIndex> virtual_starts_;
  std::optional<PartitionDecision> decision_;
  std::optional<PlacementGain> placement_;
  std::optional<ReorderingGain> reordering_;
};

}  // namespace nodewise::partition
