// Gauss-Seidel relaxation and SOR.
#pragma once

#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"

namespace nodewise::amg::relax {

/// Hybrid: Gauss-Seidel within a rank, Jacobi between ranks. M is D / w + L forward and D / w + U
/// backward, L and U being the triangles of the on-process block. The l1 form adds half of what
/// couples to other ranks to the diagonal where that is needed, which makes it converge for every
/// symmetric positive definite A on any number of ranks: Baker, Falgout, Kolev, Yang, "Multigrid
/// smoothers for ultraparallel computing", 2011, in the truncated form of remark 6.2.
template <class T>
class GaussSeidel final : public Relaxation<T> {
 public:
  /// Local.
  GaussSeidel(const matrix::DistMatrix<T>& A, double weight, bool l1);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  /// Reads each entry once.
  void first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                 std::span<T> r) const override;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const override;
  /// One exchange.
  void symmetric_sweep(std::span<const T> b, std::span<T> x) const override;
  /// No exchange.
  void first_symmetric_sweep(std::span<const T> b, std::span<T> x) const override;
  bool has_direction() const override { return true; }
  std::size_t memory_bytes() const override;

 private:
  Offset upper(LocalIndex i) const;
  void fetch_ghosts(std::span<const T> x) const;
  void sweep_beside_ghosts(Direction direction, std::span<const T> b, std::span<T> x) const;
  template <bool has_ghosts>
  void sweep_rows(Direction direction, std::span<const T> b, std::span<T> x) const;

  using Relaxation<T>::A_;
  std::vector<T> inverse_;          // of the smoother's diagonal
  std::vector<T> shift_;            // the smoother's diagonal less A's; empty when 0 everywhere
  std::vector<LocalIndex> lower_;   // how many columns of a row are below the diagonal
  std::vector<LocalIndex> frozen_;  // rows with a zero diagonal
};

}  // namespace nodewise::amg::relax
