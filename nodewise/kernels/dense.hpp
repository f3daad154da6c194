#pragma once
// Factorizations of small dense matrices, stored by columns. Each takes ten seconds to compile, so
// that they are compiled here alone.
#include <cstddef>
#include <span>
#include <vector>

namespace nodewise::kernels {

/// The eigenvalues of a symmetric matrix, smallest first, and its orthonormal eigenvectors as
/// columns, none where they are not asked for.
struct SymmetricEigen {
  std::vector<double> values;
  std::vector<double> vectors;
};
SymmetricEigen symmetric_eigen(std::span<const double> matrix, bool with_vectors = true);

/// The largest modulus of the eigenvalues of any square matrix.
double largest_eigenvalue_modulus(std::span<const double> matrix);

/// The shortest x that makes the length of A x - b least. A is square; pivots up to `threshold`
/// times the largest are taken for zero.
std::vector<double> shortest_solution(std::span<const double> A, std::span<const double> b,
                                      double threshold);

/// Replaces a square matrix by its generalised inverse of Moore and Penrose, and returns its rank.
std::size_t invert_generalised(std::span<double> matrix, double threshold);

}  // namespace nodewise::kernels
