#include "nodewise/io/problems/rotated.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

std::span<const Field<RotatedOptions>> rotated_fields() {
  using S = RotatedOptions;
  static const std::vector<Field<S>> fields = {
      field("angle", &S::angle, angle_meaning, -std::numeric_limits<double>::infinity()),
      field("epsilon", &S::epsilon, "Diffusion in the weak direction of the rotated problems",
            std::numeric_limits<double>::min())};
  return fields;
}

namespace {

void check_rotated(const GalleryOptions& options) {
  const auto& own = options.problem.options<RotatedOptions>();
  if (!(own.epsilon > 0) || !std::isfinite(own.epsilon)) {
    refuse_problem(fmt::format("epsilon is {}, needs > 0", own.epsilon));
  }
  if (!std::isfinite(own.angle)) refuse_problem("angle is not finite");
}

/// The diffusion tensor Q diag(1, epsilon) Q^T, Q turning by `angle` from the first (slow) axis to
/// the second.
struct Tensor {
  double first, second, mixed;

  explicit Tensor(const RotatedOptions& options) {
    const double c = std::cos(options.angle);
    const double s = std::sin(options.angle);
    first = c * c + options.epsilon * s * s;
    second = s * s + options.epsilon * c * c;
    mixed = (1 - options.epsilon) * c * s;
  }
};

/// Bilinear elements on squares: stiffness and mass in one dimension are [-1 2 -1] / h and
/// [1 4 1] h / 6, the derivative is [-1 0 1] / 2; a tensor product for each term of the operator.
Stencil2 rotated_fe_stencil(const Tensor& k) {
  constexpr std::array<double, 3> stiffness = {-1, 2, -1};
  constexpr std::array<double, 3> mass = {1.0 / 6, 4.0 / 6, 1.0 / 6};
  constexpr std::array<double, 3> slope = {-0.5, 0, 0.5};
  Stencil2 stencil;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      stencil[a][b] = k.first * stiffness[a] * mass[b] + k.second * mass[a] * stiffness[b] -
                      2 * k.mixed * slope[a] * slope[b];
    }
  }
  return stencil;
}

/// Second differences for the pure derivatives, a product of central ones for the mixed one.
Stencil2 rotated_fd_stencil(const Tensor& k) {
  const double corner = k.mixed / 2;
  const double centre = 2 * (k.first + k.second);
  return {
      {{-corner, -k.first, corner}, {-k.second, centre, -k.second}, {corner, -k.first, -corner}}};
}

template <class T, Stencil2 (*stencil_of)(const Tensor&)>
matrix::DistMatrix<T> make_rotated(const std::shared_ptr<const mpi::Comm>& comm,
                                   const GalleryOptions& options) {
  const Tensor tensor(options.problem.options<RotatedOptions>());
  return make_stencil_problem<T>(comm, options.n, stencil_of(tensor));
}

}  // namespace

const ModelProblem& rotated_fe_problem() {
  static const ModelProblem problem = {
      {"rotated_fe", "-div(K grad u) on a square, K turned against the grid, by bilinear elements",
       "PyAMG, diffusion_stencil_2d(epsilon, angle, \"FE\")", own_options(rotated_fields)},
      {.dimensions = 2,
       .unknowns = 1,
       .is_symmetric = true,
       .check = check_rotated,
       .size = grid_size<2, 9>,
       .coordinates = nullptr,
       .in_double = make_rotated<double, rotated_fe_stencil>,
       .in_float = make_rotated<float, rotated_fe_stencil>}};
  return problem;
}

const ModelProblem& rotated_fd_problem() {
  static const ModelProblem problem = {
      {"rotated_fd", "the same by central differences",
       "PyAMG, diffusion_stencil_2d(epsilon, angle, \"FD\")", own_options(rotated_fields)},
      {.dimensions = 2,
       .unknowns = 1,
       .is_symmetric = true,
       .check = check_rotated,
       .size = grid_size<2, 9>,
       .coordinates = nullptr,
       .in_double = make_rotated<double, rotated_fd_stencil>,
       .in_float = make_rotated<float, rotated_fd_stencil>}};
  return problem;
}

}  // namespace nodewise::io::problems
