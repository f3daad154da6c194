// Rows of convection-diffusion problems by upwind differences.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "nodewise/io/gallery.hpp"

namespace nodewise::io {

/// The velocity at a point of the unit square or cube, its axes those of the numbering, the slowest
/// first. In space it is that of the first two axes, and one along the third.
template <std::size_t dimensions>
class Velocity {
 public:
  using Vector = std::array<double, dimensions>;

  explicit Velocity(const GalleryOptions& options)
      : flow_(options.flow),
        constant_{along(std::cos(options.angle)), along(std::sin(options.angle))} {}

  Vector at(const Vector& point) const {
    Vector v;
    v.fill(1);
    const double x = 2 * point[0] - 1;
    const double y = 2 * point[1] - 1;
    switch (flow_) {
      case Flow::constant:
        v[0] = constant_[0];
        v[1] = constant_[1];
        break;
      case Flow::rotating:
        v[0] = -point[1];
        v[1] = point[0];
        break;
      case Flow::recirculating:
        v[0] = 2 * y * (1 - x * x);
        v[1] = -2 * x * (1 - y * y);
        break;
    }
    return v;
  }

 private:
  /// Along an axis it is so to the last bit: upwind there must be no entry across.
  static double along(double component) { return std::abs(component) < 1e-15 ? 0 : component; }

  Flow flow_;
  std::array<double, 2> constant_;
};

/// -diffusion Laplace(u) + v . grad u on n^dimensions interior points, h = 1 / (n + 1) apart, times
/// h: second differences and first ones against the flow, so that the matrix is an M-matrix for any
/// h. Zeros are left out.
template <class T, std::size_t dimensions>
auto convection_rows(GlobalIndex n, const GalleryOptions& options) {
  return [n, velocity = Velocity<dimensions>(options),
          diffusion = options.diffusion * static_cast<double>(n + 1)](GlobalIndex i, auto&& emit) {
    std::array<GlobalIndex, dimensions> place;
    std::array<double, dimensions> point;
    for (std::size_t d = dimensions, rest = static_cast<std::size_t>(i); d-- > 0;) {
      const auto side = static_cast<std::size_t>(n);
      place[d] = static_cast<GlobalIndex>(rest % side);
      rest /= side;
      point[d] = static_cast<double>(place[d] + 1) / static_cast<double>(n + 1);
    }
    const auto v = velocity.at(point);
    double diagonal = 0;
    GlobalIndex step = 1;
    for (std::size_t d = dimensions; d-- > 0; step *= n) {
      const double before = diffusion + std::max(v[d], 0.0);
      const double behind = diffusion + std::max(-v[d], 0.0);
      if (place[d] > 0 && before != 0) emit(i - step, static_cast<T>(-before));
      if (place[d] + 1 < n && behind != 0) emit(i + step, static_cast<T>(-behind));
      diagonal += before + behind;
    }
    emit(i, static_cast<T>(diagonal));
  };
}

}  // namespace nodewise::io
