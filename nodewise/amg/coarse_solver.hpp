// Solving on the coarsest level.
#pragma once

#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// Holds this rank's rows of a generalised inverse of a small matrix, so that a solve is one
/// gathering of the right-hand side on every rank and one dense product. A singular matrix is
/// treated as well: for a right-hand side in its range the result solves the system.
template <class T>
class CoarseSolver {
 public:
  /// Collective. Takes the inverse of factor A; the matrix may have another type. Gathers it on
  /// every rank: O(n^2) memory, O(n^3) work on each.
  template <class U>
  explicit CoarseSolver(const matrix::DistMatrix<U>& A, double factor = 1);

  /// Collective. x = A^+ b; one allgather of n numbers.
  void solve(std::span<const T> b, std::span<T> x) const;
  /// Collective. The same for `width` vectors side by side, row-major; one allgather.
  void solve(std::span<const T> B, std::span<T> X, int width) const;
  std::size_t memory_bytes() const { return inverse_rows_.size() * sizeof(T); }
  bool singular() const { return singular_; }

 private:
  void gather(std::span<const T> b, int width) const;

  std::vector<int> counts_, starts_;  // of every rank's rows
  std::vector<T> inverse_rows_;       // n_local x n, row-major
  mutable std::vector<T> all_b_;
  const mpi::Comm& comm_;
  bool singular_ = false;
};

}  // namespace nodewise::amg
