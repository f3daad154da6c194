// Right-hand sides to try a solver with, and the error where the solution is known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::solver {

/// This rank's part of one or several right-hand sides, side by side, row-major.
struct RightHandSides {
  std::vector<double> values;
  int count = 1;
  RhsKind kind = RhsKind::given;
  std::vector<double> known_solution;  ///< empty where the solution is not known
  bool modulo_constants = false;       ///< it is known up to a constant
};

/// Collective. b = A 1; where A 1 = 0, b = A x* with random x*.
RightHandSides with_known_solution(const matrix::DistMatrix<double>& A);

/// Collective. Standard normal numbers, hashed from the row number and the seed: the same on any
/// number of ranks. The k-th of `count` right-hand sides has the seed seed + k.
RightHandSides random_right_hand_sides(const matrix::DistMatrix<double>& A, int seed,
                                       int count = 1);

/// Collective. Subtracts its mean from every right-hand side, so that a singular system whose null
/// space are the constants, of a symmetric matrix, has a solution. One allreduce.
void remove_constants(const comm::Layout& rows, RightHandSides& rhs);

/// Collective. The error of x; nothing where the solution is not known.
std::optional<SolutionError> solution_error(const comm::Layout& rows, const RightHandSides& rhs,
                                            std::span<const double> x);

}  // namespace nodewise::solver
