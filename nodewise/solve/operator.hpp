// What a Krylov method needs to know of a matrix or a preconditioner.
#pragma once

#include <span>

#include "nodewise/comm/layout.hpp"

namespace nodewise::solve {

/// A square linear map on vectors laid out by layout().
template <class T>
class Operator {
 public:
  virtual ~Operator() = default;
  virtual const comm::Layout& layout() const = 0;
  /// Collective. y = A x; the arrays hold this rank's part and do not overlap.
  virtual void apply(std::span<const T> x, std::span<T> y) const = 0;
};

}  // namespace nodewise::solve
