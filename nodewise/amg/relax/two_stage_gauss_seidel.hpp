// Gauss-Seidel relaxation whose triangular solves are a few Jacobi sweeps.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/base/array.hpp"

namespace nodewise::amg::relax {

struct TwoStageOptions {
  int inner_sweeps = 1;
  SweepOrder sweep_order = SweepOrder::automatic;
};
std::span<const Field<TwoStageOptions>> two_stage_fields();

/// x += (I - D^-1 L + ... +- (D^-1 L)^s) D^-1 (b - A x), the Neumann series of (D + L)^-1, with L
/// the part of this rank's block below the diagonal, or above it backward: Berger-Vergiat, Kelley,
/// Rajamanickam, Hu, Swirydowicz, Mullowney, Thomas, Yamazaki, "Two-stage Gauss-Seidel
/// preconditioners and smoothers for Krylov solvers on a GPU cluster", 2021. With s = n it is
/// GaussSeidel. No row waits for another, so that it is the same on any number of threads.
template <class T>
class TwoStageGaussSeidel final : public Relaxation<T> {
 public:
  /// Local.
  TwoStageGaussSeidel(const matrix::DistMatrix<T>& A, int inner_sweeps);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const override;
  void sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const override;
  bool has_direction() const override { return true; }
  std::size_t memory_bytes() const override;

 protected:
  std::size_t workspace_for(std::size_t width) const override;

 private:
  /// Y = the series applied to R, for `width` vectors side by side; `other` is of that size, too.
  void apply_series(Direction direction, std::span<const T> R, std::span<T> Y, std::span<T> other,
                    std::size_t width) const;

  using Relaxation<T>::A_;
  int inner_sweeps_;
  Array<T> inverse_;              // of the diagonal; 0 where a row is left alone
  std::vector<Offset> diagonal_;  // where the entries from the diagonal on begin in each row
  mutable Array<T> scratch_;
};

}  // namespace nodewise::amg::relax
