// Relaxation on one level.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"

namespace nodewise::amg {

/// A relaxation x += M^-1 (b - A x) and its transpose. Gauss-Seidel is hybrid: Gauss-Seidel within
/// a rank, Jacobi between ranks. The l1 forms add to the diagonal what couples to other ranks
/// (Gauss-Seidel) or all off-diagonal moduli (Jacobi), which makes them converge for every
/// symmetric positive definite A on any number of ranks: Baker, Falgout, Kolev, Yang,
/// "Multigrid smoothers for ultraparallel computing", 2011; of it the truncated form of remark 6.2
/// for Gauss-Seidel. Rows with a zero diagonal are left alone.
template <class T>
class Smoother {
 public:
  enum class Direction { forward, backward };

  /// Local. SweepOrder::automatic must have been resolved.
  Smoother(const matrix::DistMatrix<T>& A, const Options& options);

  /// Collective. The sweeps before the coarse correction from x = 0: x and the residual
  /// r = b - A x.
  void presmooth(std::span<const T> b, std::span<T> x, std::span<T> r) const;
  /// Collective. The sweeps after it, the transpose of presmooth() when the numbers are equal.
  void postsmooth(std::span<const T> b, std::span<T> x) const;
  /// Collective. `sweeps` forward, then backward sweeps from x = 0: a symmetric operator.
  void solve_approximately(int sweeps, std::span<const T> b, std::span<T> x) const;
  std::size_t memory_bytes() const;

 private:
  bool is_gauss_seidel() const;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const;
  void first_sweep(std::span<const T> b, std::span<T> x) const;
  void residual_after_first_sweep(std::span<const T> b, std::span<const T> x, std::span<T> r) const;
  void jacobi_sweep(std::span<const T> b, std::span<T> x) const;
  template <bool has_ghosts>
  void gauss_seidel_sweep(Direction direction, std::span<const T> b, std::span<T> x) const;

  const matrix::DistMatrix<T>& A_;
  SmootherKind kind_;
  bool symmetric_;
  int pre_, post_;
  std::vector<T> inverse_;          // of the smoother's diagonal
  std::vector<T> shift_;            // the smoother's diagonal less A's; empty when 0 everywhere
  std::vector<LocalIndex> upper_;   // where the columns above the diagonal begin, within the row
  std::vector<LocalIndex> frozen_;  // rows with a zero diagonal
  mutable std::vector<T> scratch_;  // Jacobi only
};

}  // namespace nodewise::amg
