#include "nodewise/io/problems/convection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "nodewise/io/problems/grid.hpp"
#include "nodewise/io/problems/rotated.hpp"

namespace nodewise::io::problems {

std::span<const Field<ConvectionOptions>> convection_fields() {
  using S = ConvectionOptions;
  static const std::vector<Field<S>> fields = {
      field("angle", &S::angle, angle_meaning, -std::numeric_limits<double>::infinity()),
      field("diffusion", &S::diffusion, "Diffusion of the convection problems", 0.0),
      field("flow", &S::flow,
            "Velocity of the convection problems: constant, by `angle`; rotating around a corner; "
            "recirculating, which needs diffusion",
            {"constant", "rotating", "recirculating"})};
  return fields;
}

namespace {

void check_convection(const GalleryOptions& options) {
  const auto& own = options.problem.options<ConvectionOptions>();
  if (!std::isfinite(own.angle)) refuse_problem("angle is not finite");
  if (!(own.diffusion >= 0) || !std::isfinite(own.diffusion)) {
    refuse_problem(fmt::format("diffusion is {}, needs >= 0", own.diffusion));
  }
}

void check_convection2d(const GalleryOptions& options) {
  check_convection(options);
  const auto& own = options.problem.options<ConvectionOptions>();
  if (own.flow == Flow::recirculating && own.diffusion == 0) {
    refuse_problem(
        "diffusion is 0, needs > 0 where the flow recirculates: it stands still at the centre");
  }
}

/// The velocity at a point of the unit square or cube, its axes those of the numbering, the slowest
/// first. In space it is that of the first two axes, and one along the third.
template <std::size_t dimensions>
class Velocity {
 public:
  using Vector = std::array<double, dimensions>;

  explicit Velocity(const ConvectionOptions& options)
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
/// h. The couplings along an axis d are -(diffusion / h + max(v_d, 0)) to the point before, and
/// -(diffusion / h + max(-v_d, 0)) to the point behind. Zeros are left out: without diffusion what
/// is downwind has no coupling.
template <class T, std::size_t dimensions>
auto convection_rows(GlobalIndex n, const ConvectionOptions& options) {
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

template <class T, int dimensions>
matrix::DistMatrix<T> make_convection(const std::shared_ptr<const mpi::Comm>& comm,
                                      const GalleryOptions& options) {
  const GlobalIndex n = options.n;
  const auto& own = options.problem.options<ConvectionOptions>();
  return make_problem<T>(comm, n_points(n, dimensions),
                         convection_rows<T, std::size_t{dimensions}>(n, own));
}

}  // namespace

const ModelProblem& convection2d_problem() {
  static const ModelProblem problem = {
      {"convection2d", "-diffusion Laplace(u) + v . grad u on a square, upwind differences", "",
       own_options(convection_fields)},
      {.dimensions = 2,
       .unknowns = 1,
       .is_symmetric = false,
       .check = check_convection2d,
       .size = grid_size<2, 5>,
       .coordinates = nullptr,
       .in_double = make_convection<double, 2>,
       .in_float = make_convection<float, 2>}};
  return problem;
}

const ModelProblem& convection3d_problem() {
  static const ModelProblem problem = {
      {"convection3d", "the same in a cube", "", own_options(convection_fields)},
      {.dimensions = 3,
       .unknowns = 1,
       .is_symmetric = false,
       .check = check_convection,
       .size = grid_size<3, 7>,
       .coordinates = nullptr,
       .in_double = make_convection<double, 3>,
       .in_float = make_convection<float, 3>}};
  return problem;
}

}  // namespace nodewise::io::problems
