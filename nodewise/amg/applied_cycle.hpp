// A hierarchy's cycle in the precision it is applied in.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/amg/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// The cycle of a hierarchy that was set up in T. Levels are added finest first.
template <class T>
class AppliedCycle {
 public:
  using Matrix = std::shared_ptr<const matrix::DistMatrix<T>>;
  /// What a level is made of: see CycleLevel.
  struct Parts {
    Matrix A, P, R;
    double spectral_radius = 0;
    std::span<const LocalIndex> coarse_rows = {};  // read while the level is added
  };

  virtual ~AppliedCycle() = default;
  /// Local. Adds a level that is smoothed. What it throws on one rank must be agreed on.
  virtual void add_smoothed(const Parts& parts) = 0;
  /// Collective. Adds the last level, to be solved directly; returns how.
  virtual std::string add_direct(const Matrix& A) = 0;
  /// Collective. One cycle from x = 0.
  virtual void apply(std::span<const T> b, std::span<T> x) const = 0;
  /// Collective. The same and the product y = A x with the finest matrix, where saves_product().
  virtual void apply_with_product(std::span<const T> b, std::span<T> x, std::span<T> y) const = 0;
  /// Whether the product is at hand, exact in T, for less than by itself.
  virtual bool saves_product() const = 0;
  /// Collective. The same for `width` vectors side by side, row-major, in the messages of one;
  /// false, and nothing is done, where the cycle is another for each vector.
  virtual bool apply_together(std::span<const T> B, std::span<T> X, int width) const = 0;
  /// What this rank holds for the levels, but for the matrices that are the setup's own.
  virtual std::size_t memory_bytes() const = 0;
};

/// Collective. Computes in the precision of T, or in float where options.precision says so:
/// matrices, smoothers and vectors are then float, the coarsest level is inverted in double all the
/// same. Powers of two bring the matrix and each right-hand side near one, so that single precision
/// does not overflow or lose small numbers; for the latter each application costs an allreduce.
/// `A` is the finest matrix. One allreduce where it is not T's precision.
template <class T>
std::unique_ptr<AppliedCycle<T>> make_applied_cycle(const matrix::DistMatrix<T>& A,
                                                    const Options& options, bool symmetric_matrix);

}  // namespace nodewise::amg
