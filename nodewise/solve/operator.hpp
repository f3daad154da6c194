// A matrix or a preconditioner as Krylov methods see it.
#pragma once

#include <span>
#include <string>

#include "nodewise/comm/layout.hpp"

namespace nodewise::solve {

/// A square linear map on vectors laid out by layout().
template <class T>
class Operator {
 public:
  virtual ~Operator() = default;
  virtual const comm::Layout& layout() const = 0;
  /// Collective. y = A x; the arrays hold this rank's part and do not overlap. Lengths are looked
  /// at, where at all, on each rank by itself: dimension_mismatch is thrown where they are wrong,
  /// and the other ranks wait. (The Krylov methods compare them on all ranks once.)
  virtual void apply(std::span<const T> x, std::span<T> y) const = 0;
  /// Collective. For this as a preconditioner M of A: y = M x and Ay = A y.
  virtual void apply_with_product(const Operator& A, std::span<const T> x, std::span<T> y,
                                  std::span<T> Ay) const {
    apply(x, y);
    A.apply(y, Ay);
  }
  /// Local, the same on every rank. Whether that is cheaper than M x and a product with A apart.
  virtual bool saves_product_with(const Operator& /*A*/) const { return false; }
  /// Local, the same on every rank. Names what makes this another map than its transpose although
  /// the matrix that it preconditions is symmetric, such as "cycle f"; empty: nothing known.
  virtual std::string broken_symmetry() const { return {}; }
  /// Local, the same on every rank. Whether this is the same linear map at every call.
  virtual bool is_fixed() const { return true; }
  /// Collective. Y = A X for `width` vectors side by side, row-major. `work` has room for two
  /// vectors. By default one vector after the other; an operator that can share messages between
  /// them, or read its entries once, overrides it.
  virtual void apply_block(std::span<const T> X, std::span<T> Y, int width,
                           std::span<T> work) const {
    const std::span<T> x = work.first(work.size() / 2);
    const std::span<T> y = work.last(x.size());
    const auto w = static_cast<std::size_t>(width);
    for (std::size_t c = 0; c < w; ++c) {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = X[i * w + c];
      apply(x, y);
      for (std::size_t i = 0; i < x.size(); ++i) Y[i * w + c] = y[i];
    }
  }
};

}  // namespace nodewise::solve
