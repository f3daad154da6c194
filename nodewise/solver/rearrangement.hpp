// The matrix that a preconditioner is set up from, where rows are permuted, or rows and columns
// scaled. The system that is solved stays the caller's.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/comm/row_move.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"
#include "nodewise/solver/row_permutation.hpp"
#include "nodewise/solver/scaling.hpp"

namespace nodewise::solver {

/// B = P R A C, with a permutation P and diagonal matrices R and C: M being a preconditioner of B,
/// C M P R is one of A. Conjugate gradients with it make, where B is symmetric, the iterates that
/// they would make of the scaled system, and test the residual of the caller's.
class Rearrangement {
 public:
  using Matrix = matrix::DistMatrix<double>;
  using MatrixPointer = std::shared_ptr<const Matrix>;

  /// Collective. Throws what the two methods do. A scaling is that of the permuted matrix; where
  /// none is asked for, the permutation's own.
  Rearrangement(const MatrixPointer& A, const Choice<ScalingMethod>& scaling,
                const Choice<RowPermutationMethod>& permutation, bool symmetric);

  const MatrixPointer& matrix() const { return B_; }
  bool permutes() const { return move_.has_value(); }
  /// What B has of another matrix with A's pattern. The permutation stays, and where it brought the
  /// scaling that, too; a scaling that was asked for is made anew.
  Rearrangement again(const MatrixPointer& next) const;
  /// Local. Vectors that A hardly changes, `width` side by side, become those of B.
  void to_unknowns(std::span<double> vectors, int width) const;

  /// Collective where rows are permuted. y = P R x, for `width` vectors side by side.
  void to_rows(std::span<const double> x, std::span<double> y, int width) const;
  /// Local. y = C y.
  void from_unknowns(std::span<double> y, int width) const;

 private:
  Rearrangement(Choice<ScalingMethod> scaling, bool symmetric)
      : scaling_(std::move(scaling)), symmetric_(symmetric) {}
  void arrange(const MatrixPointer& A);

  Choice<ScalingMethod> scaling_;
  bool symmetric_;
  std::optional<comm::RowMove> move_;
  ScaleFactors with_move_;  // those of the permutation, rows being where they are in A
  ScaleFactors factors_;    // of A's rows where they are in B, and of its columns
  MatrixPointer B_;
};

/// C M P R. Both must outlive it; M may be null: the identity.
class RearrangedPreconditioner final : public solve::Operator<double> {
 public:
  RearrangedPreconditioner(const Rearrangement& way, const solve::Operator<double>* M);

  const comm::Layout& layout() const override { return way_.matrix()->rows(); }
  void apply(std::span<const double> x, std::span<double> y) const override {
    apply_block(x, y, 1, {});
  }
  void apply_block(std::span<const double> X, std::span<double> Y, int width,
                   std::span<double> work) const override;
  std::string broken_symmetry() const override;
  bool is_fixed() const override { return M_ == nullptr || M_->is_fixed(); }

 private:
  const Rearrangement& way_;
  const solve::Operator<double>* M_;
  mutable std::vector<double> rows_;
};

}  // namespace nodewise::solver
