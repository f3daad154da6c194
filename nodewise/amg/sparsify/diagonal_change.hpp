// What is added to the diagonal block of a point for the blocks of its row that are dropped.
#pragma once

#include <cstddef>
#include <span>

namespace nodewise::amg::sparsify {

/// The part of its diagonal that a row may lose.
inline constexpr double most_lost = 0.5;

/// The smallest symmetric block D with D b = s: (s b^T + b s^T) / b^T b - (b^T s) b b^T / (b^T b)^2
/// (the symmetric update of Powell, 1970). s is the product of the dropped blocks and the vector
/// that is to be multiplied as before, b its part at the point. With one row a point, and constants
/// as the vector, the sum of what is dropped.
template <class T>
class DiagonalChange {
 public:
  DiagonalChange(std::span<const T> s, std::span<const T> b) : s_(s), b_(b) {
    for (std::size_t r = 0; r < b.size(); ++r) {
      square_ += b[r] * b[r];
      product_ += b[r] * s[r];
    }
  }
  /// Whether there is one: not where the vector is zero.
  bool exists() const { return square_ > T{}; }
  T operator()(std::size_t r, std::size_t c) const {
    if (b_.size() == 1) return s_[0] / b_[0];
    return (s_[r] * b_[c] + b_[r] * s_[c] - product_ / square_ * b_[r] * b_[c]) / square_;
  }

 private:
  std::span<const T> s_, b_;
  T square_{}, product_{};
};

}  // namespace nodewise::amg::sparsify
