// The simplest preconditioner.
#pragma once

#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::solve {

/// Division by the diagonal of a square matrix.
class DiagonalPreconditioner final : public Operator<double> {
 public:
  /// Collective. Throws unsuitable_matrix on every rank where a diagonal entry is zero, missing or
  /// not finite.
  explicit DiagonalPreconditioner(const matrix::DistMatrix<double>& A);

  const comm::Layout& layout() const override { return layout_; }
  void apply(std::span<const double> x, std::span<double> y) const override;
  void apply_block(std::span<const double> X, std::span<double> Y, int width,
                   std::span<double> work) const override;

 private:
  comm::Layout layout_;
  Array<double> diagonal_;
};

}  // namespace nodewise::solve
