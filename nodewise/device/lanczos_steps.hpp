// The vectors of an estimate of the spectral radius, on a device.
#pragma once

#include <array>

#include "nodewise/device/csr_matrix.hpp"
#include "nodewise/device/sums.hpp"

namespace nodewise::device {

/// Lanczos for |D|^-1 A in the inner product of |D|, as amg::spectral_radius() goes: vectors that
/// stay on the device, and two numbers a step that come to the host. All functions are local; sums
/// are those of this rank.
template <class Space>
class LanczosSteps {
 public:
  /// The start is hashed from `seed` and the numbers of rows, which follow `first`.
  LanczosSteps(Queue<Space>& queue, const CsrMatrix<double, Space>& A, GlobalIndex first, int seed);

  /// What the next product multiplies, with room for ghosts, and where it goes.
  double* v() { return v_.data(); }
  double* w() { return w_.data(); }

  /// The square of the length of v. Waits, as step_sums() does.
  double square();
  void scale(double factor);
  /// v . w, and the square of the length of |D|^-1 w.
  std::array<double, 2> step_sums();
  /// The next v is (|D|^-1 w - alpha v - beta u) / next_beta, u being the one before v.
  void recur(double alpha, double beta, double next_beta);

 private:
  template <int K>
  Terms<K> read(const Buffer<Terms<K>, Space>& sum);

  Queue<Space>& queue_;
  std::int64_t n_;
  Buffer<double, Space> inverse_, v_, before_, w_;
  Buffer<Terms<1>, Space> one_;
  Buffer<Terms<2>, Space> two_;
  Sums<1, Space> one_sum_;
  Sums<2, Space> two_sums_;
};

}  // namespace nodewise::device
