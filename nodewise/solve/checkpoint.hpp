// The best iterate so far, kept where the method may not come back to it.
#pragma once

#include <initializer_list>
#include <limits>
#include <span>

#include "nodewise/base/array.hpp"
#include "nodewise/solve/iteration.hpp"

namespace nodewise::solve {

/// A part of a step: `length` times the vector.
template <class T>
struct Move {
  double length;
  std::span<const T> along;
};

/// Keeps an iterate whenever the residual is about to rise far enough, a few times in a solve at
/// most, so that a method whose residual rises and falls still leaves an x of nearly the smallest
/// residual seen. Residuals are as the method knows them, in the norm that is tested.
template <class T>
class Checkpoint {
 public:
  explicit Checkpoint(Iteration<T>& it) : it_(it) {}

  /// Local. To be called when the solve has begun, and after every iteration recorded.
  void note(double relative) {
    if (relative < best_) best_ = relative;
  }

  /// The residual rises from the last one recorded by a step that x has taken already: keeps the x
  /// before it, if that is the best and the residual of the one kept is at least twice as large.
  /// Collective the first time.
  void keep_before(std::initializer_list<Move<T>> step);

  /// Collective. The last step overflowed: undoes it, and where even that is impossible starts from
  /// zero.
  void undo(std::initializer_list<Move<T>> step);

  /// Collective. Where the solve failed after some iterations, what was kept becomes x if the true
  /// residual of x is more than twice as large. (Otherwise the last iterate is the better one in
  /// the norm that the method minimises.) So does zero where the residual of the start was not much
  /// larger either: steps along a null vector part x from what the recurrences know, be it the last
  /// one or the one kept. A product; another where one was kept that seems better. `work` is
  /// overwritten.
  void restore(std::span<T> work);

 private:
  Iteration<T>& it_;
  double best_ = std::numeric_limits<double>::infinity();
  Array<T> kept_;
  double kept_residual_ = std::numeric_limits<double>::infinity();
};

}  // namespace nodewise::solve
