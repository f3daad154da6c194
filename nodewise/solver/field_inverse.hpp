// An approximate inverse of the matrix of one field of a system.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/amg/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::solver {

/// Of `sign` times a matrix, which then has more positive diagonal entries than negative ones.
struct FieldInverse {
  std::unique_ptr<solve::Operator<double>> map;
  double sign = 1;

  /// Collective. x = about A^-1 b.
  void apply(std::span<const double> b, std::span<double> x) const;
  /// Collective. x = about (sign A)^-1 b: positive definite where A is definite of either sign.
  void apply_positive(std::span<const double> b, std::span<double> x) const { map->apply(b, x); }
};

/// What a field of more rows is solved with.
enum class FieldSolve {
  automatic,  ///< a cycle that proves good, and else factors, in builds with MUMPS
  cycle,      ///< a cycle of multigrid; factors where it refuses the matrix
  direct      ///< factors; a cycle where the matrix is singular
};

/// Up to so many rows of a field are solved for exactly.
inline constexpr GlobalIndex most_dense_rows = 300;

/// Collective. A dense generalised inverse of a small matrix, and else what FieldSolve says: a
/// cycle of multigrid with these options and `unknowns` interleaved rows at each point (0: as many
/// as the pattern and the values show), or factors by MUMPS. A cycle is good where five of them
/// leave less than half of a residual. Throws on every rank what amg::Hierarchy and factorize() do,
/// with `what` before the text.
FieldInverse invert_field(const std::shared_ptr<const matrix::DistMatrix<double>>& A,
                          FieldSolve solve, const amg::Options& options, int unknowns,
                          const std::string& what);

}  // namespace nodewise::solver
