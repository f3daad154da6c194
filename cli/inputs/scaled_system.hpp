// Diagonal scaling of a system, and of its solution back.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cli/inputs/system.hpp"

namespace nodewise::cli {

/// S A S y = S b with S = D^(-1/2), D the moduli of the diagonal of A, and x = S y.
class DiagonalScaling {
 public:
  /// Collective. Keeps A and b, and puts the scaled ones in their place. Throws
  /// Failure{unsuitable_matrix} where the diagonal has a zero. One exchange of A.
  DiagonalScaling(std::shared_ptr<const Matrix>& A, solver::RightHandSides& rhs);

  /// Local. y of x; the other way.
  void scale(std::span<double> x, int n_rhs) const;
  void scale_back(std::span<double> y, int n_rhs) const;

  /// Collective. The largest |b - A x| / |b| of the system as it was, over its right-hand sides.
  double residual(std::span<const double> x, int n_rhs) const;

 private:
  std::shared_ptr<const Matrix> A_;
  std::vector<double> b_;
  std::vector<double> s_;  // of the owned rows
};

/// Collective. Nothing where the settings do not ask for it.
std::optional<DiagonalScaling> scaling_of(std::shared_ptr<const Matrix>& A,
                                          solver::RightHandSides& rhs, const Settings& settings);

}  // namespace nodewise::cli
