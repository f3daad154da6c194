// Small dense symmetric problems. They are solved on every rank, from numbers that an allreduce has
// made the same and by the same instructions, so that the results are the same. All local.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace nodewise::eigen {

/// Eigenvalues, smallest first, and vectors C, row-major: n x values.size().
struct SmallPairs {
  std::vector<double> values;
  std::vector<double> vectors;
};

/// H C = G C diag(values), C^T G C = 1, with n x n matrices, of which the symmetric parts are
/// taken. None where G is singular to working precision, or a number is not finite.
std::optional<SmallPairs> solve_small(std::span<const double> H, std::span<const double> G,
                                      std::size_t n);

/// C^T H C of m x m, for an n x n matrix H and C of n x m.
std::vector<double> small_gram(std::span<const double> H, std::span<const double> C, std::size_t n,
                               std::size_t m);

/// T of n x m with T^T G T = 1 for a symmetric positive semidefinite G, by its singular vectors
/// after its diagonal has been made 1 (SVQB: Stathopoulos, Wu 2002): those below `threshold` are
/// left out, and so are columns of no length. `scales` are the squares that lengths are relative
/// to.
struct Whitening {
  std::vector<double> T;
  std::size_t m = 0;
  double smallest = 1;  ///< the smallest that was kept
};
Whitening whiten(std::span<const double> G, std::span<const double> scales, double threshold);

}  // namespace nodewise::eigen
