// Scaling a system by its diagonal, for rows of very different sizes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solver/right_hand_side.hpp"

namespace nodewise::solver {

/// S A S y = S b with S = D^(-1/2), D the moduli of the diagonal of A, and x = S y. A symmetric
/// matrix stays symmetric. Vectors are this rank's parts of k right-hand sides or solutions side by
/// side, row-major, k being that of the constructor.
class DiagonalScaling {
 public:
  /// Collective. Keeps A and b, and scales the right-hand sides in place. One exchange of A and one
  /// reduction. Throws unsuitable_matrix on every rank where the diagonal has a zero or a number
  /// that is not finite.
  DiagonalScaling(std::shared_ptr<const matrix::DistMatrix<double>> A, RightHandSides& rhs);

  /// S A S, over the exchange of A.
  const std::shared_ptr<const matrix::DistMatrix<double>>& matrix() const { return scaled_; }

  /// Local. Makes y of x, in place: a first guess for the scaled system.
  void scale(std::span<double> x) const;
  /// Local. Makes x of y, in place: the solution of the system as it was.
  void scale_back(std::span<double> y) const;

  /// Collective. The largest |b - A x| / |b| of the system as it was, over its right-hand sides.
  /// k products and reductions.
  double residual(std::span<const double> x) const;

 private:
  std::shared_ptr<const matrix::DistMatrix<double>> A_, scaled_;
  std::size_t n_rhs_;
  std::vector<double> b_;
  std::vector<double> s_;  // of the owned rows
};

}  // namespace nodewise::solver
