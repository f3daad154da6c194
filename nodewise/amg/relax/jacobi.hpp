// Jacobi relaxation.
#pragma once

#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"

namespace nodewise::amg::relax {

/// Of the damped forms, of rows and of points.
struct JacobiOptions {
  double jacobi_weight = 0.6666666666666666;
};
std::span<const Field<JacobiOptions>> jacobi_fields();
/// That of a smoother that has one; 1 for an l1 form.
double jacobi_weight(const Choice<SmootherMethod>& smoother);

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
  std::optional<DiagonalSteps<T>> diagonal_steps() const override {
    return DiagonalSteps<T>{inverse_, {{T{0}, T{1}}}};
  }
  std::size_t memory_bytes() const override;

 protected:
  std::size_t workspace_for(std::size_t width) const override;

 private:
  using Relaxation<T>::A_;
  Array<T> inverse_;  // w / D; 0 where a row is left alone
  mutable std::vector<T> scratch_;
};

}  // namespace nodewise::amg::relax
