// Products of dense blocks, row-major, as elimination needs them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace nodewise::amg::relax {

/// a = a b.
template <int B>
inline void multiply_from_right(double* a, const double* b) {
  for (int r = 0; r < B; ++r) {
    std::array<double, B> row{};
    for (int k = 0; k < B; ++k) {
      for (int c = 0; c < B; ++c) row[static_cast<std::size_t>(c)] += a[r * B + k] * b[k * B + c];
    }
    std::copy_n(row.data(), B, a + r * B);
  }
}

/// c -= a b.
template <int B>
inline void subtract_product(const double* a, const double* b, double* c) {
  for (int r = 0; r < B; ++r) {
    for (int k = 0; k < B; ++k) {
      for (int j = 0; j < B; ++j) c[r * B + j] -= a[r * B + k] * b[k * B + j];
    }
  }
}

/// The sum of the squares of a block.
template <int B>
inline double square_of(const double* a) {
  double sum = 0;
  for (int k = 0; k < B * B; ++k) sum += a[k] * a[k];
  return sum;
}

/// The root of that.
template <int B>
inline double size_of(const double* a) {
  return B == 1 ? std::abs(a[0]) : std::sqrt(square_of<B>(a));
}

}  // namespace nodewise::amg::relax
