// Vectors on their way between the ranks that computed a level and those that have it.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "nodewise/base/array.hpp"
#include "nodewise/comm/row_move.hpp"

namespace nodewise::amg {

/// What a cycle needs where the next level is moved to fewer ranks and P and R are not: they work
/// on a vector between (MoveMethod collective). A next level is solved from zero, so that there is
/// no guess to be gathered. For one vector, or several side by side, row-major.
template <class T>
class Arrival {
 public:
  explicit Arrival(comm::RowMove move) : move_(std::move(move)) { resize(1); }

  /// Local. Room for so many vectors; resize() needs no memory for as many or fewer afterwards.
  void reserve(int width) { between_.reserve(size(width)); }
  void resize(int width) { between_.resize(size(width)); }

  /// Where a restriction leaves its sums, and a prolongation finds the correction.
  std::span<T> between(int width) { return std::span(between_).first(size(width)); }
  /// Collective. The first of these to the ranks that have the level: the messages of the move.
  void gather(std::span<T> b, int width) {
    move_.forward<T>(std::span<const T>(between(width)), b, width);
  }
  /// Collective. And the second from there: the same messages the other way.
  void scatter(std::span<const T> x, int width) { move_.backward<T>(x, between(width), width); }

  std::size_t memory_bytes() const { return between_.size() * sizeof(T); }

 private:
  std::size_t size(int width) const {
    return static_cast<std::size_t>(move_.from().n_local()) * static_cast<std::size_t>(width);
  }

  comm::RowMove move_;
  Array<T> between_;
};

}  // namespace nodewise::amg
