// Jacobi relaxation of the fine points, then of the coarse ones.
#pragma once

#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"

namespace nodewise::amg::relax {

struct FcJacobiOptions {
  int fine_sweeps = 2;
  int coarse_sweeps = 1;
  SweepOrder sweep_order = SweepOrder::automatic;
};
std::span<const Field<FcJacobiOptions>> fc_jacobi_fields();

/// Jacobi sweeps, undamped, over the fine points alone, then over the coarse points alone; backward
/// the other way about, which is the adjoint for a symmetric A. The fine points are solved for
/// where a reduction-based method leaves them to relaxation: Manteuffel, Münzenmaier, Ruge,
/// Southworth, "Nonsymmetric reduction-based algebraic multigrid", 2019. Independent of the number
/// of ranks and threads. Every Jacobi sweep costs an exchange of A and reads the rows of its
/// points.
template <class T>
class FcJacobi final : public Relaxation<T> {
 public:
  /// Local. Rows that are not coarse are fine, as on a last level.
  FcJacobi(const matrix::DistMatrix<T>& A, std::span<const LocalIndex> coarse_rows, int fine_sweeps,
           int coarse_sweeps);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const override;
  void sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const override;
  bool has_direction() const override { return true; }
  std::size_t memory_bytes() const override;

 protected:
  std::size_t workspace_for(std::size_t width) const override;

 private:
  /// The points of one kind, and where the entries of each would begin if they were a matrix.
  struct Rows {
    std::vector<LocalIndex> rows;
    std::vector<Offset> first_entry = {0};

    void append(const matrix::DistMatrix<T>& A, LocalIndex i);
  };
  /// x += D^-1 (b - A x) in some rows.
  void relax(const Rows& rows, std::span<const T> b, std::span<T> x) const;
  /// The same for `width` vectors side by side.
  void relax_block(const Rows& rows, std::span<const T> B, std::span<T> X, int width) const;

  using Relaxation<T>::A_;
  Rows fine_, coarse_;
  int fine_sweeps_, coarse_sweeps_;
  Array<T> inverse_;  // of the diagonal; 0 where a row is left alone
  mutable std::vector<T> residual_;
};

}  // namespace nodewise::amg::relax
