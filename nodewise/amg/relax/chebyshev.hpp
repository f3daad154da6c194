// Chebyshev relaxation.
#pragma once

#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"

namespace nodewise::amg::relax {

struct ChebyshevOptions {
  int chebyshev_degree = 2;
  double chebyshev_fraction = 0.3;
};
std::span<const Field<ChebyshevOptions>> chebyshev_fields();

/// The polynomial in D^-1 A that is smallest on the upper part [fraction, 1.1] of the spectrum, in
/// units of the spectral radius (Saad, "Iterative Methods for Sparse Linear Systems", 2003,
/// algorithm 12.1; Adams, Brezina, Hu, Tuminaro 2003). Independent of the number of ranks, and its
/// own adjoint. A sweep of degree k costs k products, k - 1 from x = 0.
template <class T>
class Chebyshev final : public Relaxation<T> {
 public:
  /// Local. spectral_radius: of D^-1 A, or an estimate from below by a few per cent.
  Chebyshev(const matrix::DistMatrix<T>& A, int degree, double fraction, double spectral_radius);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const override;
  void sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const override;
  std::optional<DiagonalSteps<T>> diagonal_steps() const override {
    return DiagonalSteps<T>{inverse_, steps_};
  }
  std::size_t memory_bytes() const override;

 protected:
  std::size_t workspace_for(std::size_t width) const override;

 private:
  using Step = typename DiagonalSteps<T>::Step;
  /// The steps of the recurrence after the first, whose step is in step_.
  void further_steps(std::span<const T> b, std::span<T> x) const;

  using Relaxation<T>::A_;
  std::vector<Step> steps_;  // of a sweep
  Array<T> inverse_;         // of the diagonal; 0 where a row is left alone
  mutable std::vector<T> step_, residual_;
};

}  // namespace nodewise::amg::relax
