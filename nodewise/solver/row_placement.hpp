// Where the rows of a system are while it is solved, and the way there and back.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/partition/arrangement.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/problem.hpp"

namespace nodewise::solver {

class RowPlacement {
 public:
  using Matrix = matrix::DistMatrix<double>;

  /// Collective. Finds which rank is to have which rows, in which order, by the options, and plans
  /// the way there. Throws what partition::Arrangement does.
  RowPlacement(const Matrix& A, const Options& options);

  /// Local. Whether rows go to other ranks or get other numbers.
  bool moves() const { return arrangement_.has_value() && arrangement_->moves(); }
  /// Local. Whether a partition pays; nothing where that was not asked.
  std::optional<partition::PartitionDecision> partition_decision() const {
    return arrangement_ ? arrangement_->decision() : std::nullopt;
  }
  /// Local. What the placement of the parts gained; nothing where none was asked for.
  std::optional<partition::PlacementGain> placement_gain() const {
    return arrangement_ ? arrangement_->placement() : std::nullopt;
  }
  /// Local. What the order gained; nothing where none was asked for.
  std::optional<partition::ReorderingGain> reordering_gain() const {
    return arrangement_ ? arrangement_->reordering() : std::nullopt;
  }
  /// Local. The caller's rows.
  const comm::Layout& rows() const { return rows_; }
  /// Collective. The matrix with its rows and columns there; itself where nothing moves.
  std::shared_ptr<const Matrix> there(const std::shared_ptr<const Matrix>& A) const;
  /// Collective. The vectors there, side by side.
  std::vector<double> there(std::span<const double> x, int n_vectors = 1) const;
  /// Collective. And back.
  void back(std::span<const double> x_there, std::span<double> x, int n_vectors = 1) const;
  /// Collective. What multigrid is told of the rows there; throws what solver::problem_info() does.
  amg::ProblemInfo<double> problem_info(const Problem& problem, const Options& options,
                                        bool symmetric) const;
  /// Collective where rows move. The field of each row there.
  RowFields fields(const RowFields& of_caller) const;

 private:
  comm::Layout rows_;
  std::optional<partition::Arrangement> arrangement_;  // none: rows stay as they are
};

}  // namespace nodewise::solver
