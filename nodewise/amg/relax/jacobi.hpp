// Jacobi relaxation.
#pragma once

#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"

namespace nodewise::amg::relax {

/// x += w D^-1 (b - A x). In the l1 form D is the diagonal with the CouplingSums of all other
/// entries of its row added, which converges for every symmetric positive definite A: Baker,
/// Falgout, Kolev, Yang, "Multigrid smoothers for ultraparallel computing", 2011.
template <class T>
class Jacobi final : public Relaxation<T> {
 public:
  /// Local. `l1` is null for the other form, which alone has a weight.
  Jacobi(const matrix::DistMatrix<T>& A, double weight, const CouplingSums<T>* l1);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const override;
  void sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const override;
  std::size_t memory_bytes() const override;

 protected:
  std::size_t workspace_for(std::size_t width) const override;

 private:
  using Relaxation<T>::A_;
  Array<T> inverse_;  // w / D; 0 where a row is left alone
  mutable std::vector<T> scratch_;
};

}  // namespace nodewise::amg::relax
