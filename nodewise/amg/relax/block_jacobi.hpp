// Jacobi relaxation of points with several unknowns.
#pragma once

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/base/array.hpp"

namespace nodewise::amg::relax {

/// x += w D^-1 (b - A x), D being the diagonal blocks of A.blocks(). In the l1 form the
/// CouplingSums of the other entries of each row are added to the diagonal of D, which makes D - A
/// semidefinite for every symmetric positive definite A, so that it converges: the argument of
/// Baker, Falgout, Kolev, Yang, "Multigrid smoothers for ultraparallel computing", 2011,
/// theorem 5.1, for blocks.
template <class T>
class BlockJacobi final : public Relaxation<T> {
 public:
  /// Local. A must have blocks(). `l1` is null for the other form, which alone has a weight.
  BlockJacobi(const matrix::DistMatrix<T>& A, double weight, const CouplingSums<T>* l1);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const override;
  void sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const override;
  std::size_t memory_bytes() const override;

 protected:
  std::size_t workspace_for(std::size_t width) const override;

 private:
  using Relaxation<T>::A_;
  Array<T> inverse_;  // w / D
  mutable Array<T> scratch_;
};

}  // namespace nodewise::amg::relax
