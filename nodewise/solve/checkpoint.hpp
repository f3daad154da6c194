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

/// Keeps the iterate with the smallest residual so far. An iterate is kept when its residual is
/// smaller by a tenth and about to rise, which is seldom where a method converges. So a method
/// whose residual rises and falls leaves as good an x all the same. Residuals are as the method
/// knows them, in the norm that is tested; true ones decide in the end which x is the best.
template <class T>
class Checkpoint {
 public:
  explicit Checkpoint(Iteration<T>& it) : it_(it) {}

  /// Local. Asks for the memory that all else does without asking: two vectors, which take room
  /// when something is kept.
  void reserve_workspace();

  /// Local. To be called when the solve has begun. A start that is not zero is kept.
  void begin();

  /// Local. To be called after every iteration recorded.
  void note(double relative) {
    if (relative < best_) best_ = relative;
  }

  /// Local. Whether keep_before() would keep anything now: the same on every rank.
  bool is_worth_keeping() const;

  /// Local. The residual rises from the last one recorded by a step that x has taken already: keeps
  /// the x before it, if that is the best by a tenth.
  void keep_before(std::initializer_list<Move<T>> step);

  /// Collective. The last step overflowed: undoes it, and where even that is impossible starts from
  /// zero.
  void undo(std::initializer_list<Move<T>> step);

  /// Collective. Where the solve failed after some iterations, x becomes the one whose true
  /// residual is the smallest, in the norm that is tested, of four: the last, the one kept, the
  /// start and zero. Steps along a null vector part x from what the recurrences know, so that none
  /// of them need be the best by itself. A solve that was cut short leaves the last, which is the
  /// better one in the norm that the method minimises, unless its residual is twice that of the one
  /// kept or of the start. A product; another where one was kept that seems better. `work` is
  /// overwritten.
  void restore(std::span<T> work);

 private:
  Iteration<T>& it_;
  double best_ = std::numeric_limits<double>::infinity();
  double kept_residual_ = std::numeric_limits<double>::infinity();  // infinite: none is kept
  Array<T> kept_;
  Array<T> start_;  // read where the solve does not start from zero
};

}  // namespace nodewise::solve
