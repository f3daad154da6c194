// What conjugate gradients do with vectors and numbers that stay on a device.
#pragma once

#include <cstdint>

#include "nodewise/device/sums.hpp"

namespace nodewise::device {

/// The numbers of an iteration, on the device; on several ranks each has its own part until it is
/// summed.
struct CgNumbers {
  Terms<1> pq;         ///< p.A p
  Terms<1> rr;         ///< r.r
  Terms<2> rz_qz;      ///< r.M r, and A p.M r
  double rz_before;    ///< r.M r of the last direction; 0: the next direction starts afresh
  double alpha, beta;  ///< the last step, and what is kept of the last direction
  double in, out;      ///< factors of a right-hand side for single precision, and of the solution
};

/// Vectors are arrays of n numbers of the space. All functions are local, put kernels into the
/// queue, and return before these are done, where the space is a card. Sums are made in SumOrder.
template <class Space>
class CgSteps {
 public:
  CgSteps(Queue<Space>& queue, std::int64_t n);

  /// In the space.
  CgNumbers* numbers() { return numbers_.data(); }
  const CgNumbers* numbers() const { return numbers_.data(); }

  /// Has the next direction start afresh.
  void forget_direction();
  /// rr = r.r.
  void square(const double* r);
  /// pq = p.q.
  void dot(const double* p, const double* q);
  /// alpha = rz / pq where that makes sense, 0 elsewhere; x += alpha p, r -= alpha q, rr = r.r.
  void advance(const double* p, const double* q, double* x, double* r);
  /// b = in r, where `in` is a power of two that brings the entries of r to at most 1; out =
  /// matrix_scale / in.
  template <class T>
  void round(double matrix_scale, const double* r, T* b);
  /// z = out x, rz_qz of r and q.
  template <class T>
  void extend(const T* x, const double* r, const double* q, double* z);
  /// p = z + beta p: rz / rz_before, or where the preconditioner may change -alpha qz / rz_before;
  /// then rz_before = rz.
  void turn(bool flexible, const double* z, double* p);

 private:
  Queue<Space>& queue_;
  std::int64_t n_;
  Buffer<CgNumbers, Space> numbers_;
  Sums<1, Space> one_;
  Sums<2, Space> two_;
};

}  // namespace nodewise::device
