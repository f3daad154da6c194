#include "nodewise/io/problems/beam.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

namespace {

using Gradients = std::array<std::array<double, 3>, 4>;
using Corners = std::array<std::size_t, 4>;

/// The corners on the way from corner 0 along these axes.
Corners corners_along(const std::array<std::size_t, 3>& axes) {
  Corners corners{};
  for (std::size_t k = 0; k < 3; ++k) corners[k + 1] = corners[k] | std::size_t{4} >> axes[k];
  return corners;
}

/// In the tetrahedron x_axes[0] >= x_axes[1] >= x_axes[2] the functions that are 1 at one corner
/// and 0 at the others are 1 - x_axes[0], the differences of successive coordinates, and x_axes[2].
Gradients gradients_along(const std::array<std::size_t, 3>& axes) {
  Gradients gradients{};
  for (std::size_t k = 0; k < 3; ++k) {
    gradients[k][axes[k]] -= 1;
    gradients[k + 1][axes[k]] += 1;
  }
  return gradients;
}

/// lambda div u div v + 2 mu e(u) : e(v) with lambda = mu = 1, times six volumes.
void add_tetrahedron(const Corners& corners, const Gradients& g, CubeStiffness& stiffness) {
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      const double product = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t d = 0; d < 3; ++d) {
          stiffness[3 * corners[a] + c][3 * corners[b] + d] +=
              g[a][c] * g[b][d] + g[a][d] * g[b][c] + (c == d ? product : 0);
        }
      }
    }
  }
}

}  // namespace

CubeStiffness cube_stiffness() {
  CubeStiffness stiffness{};
  std::array<std::size_t, 3> axes = {0, 1, 2};
  do {
    add_tetrahedron(corners_along(axes), gradients_along(axes), stiffness);
  } while (std::next_permutation(axes.begin(), axes.end()));
  return stiffness;
}

Beam::Beam(GlobalIndex n) : n_(n) {
  constexpr GlobalIndex largest = std::numeric_limits<GlobalIndex>::max();
  if (n > largest / 24 / (n + 1) / (n + 1)) {
    throw Error(
        ErrorCode::index_overflow,
        fmt::format("problem: the 24 * {} * {}^2 rows of a beam do not fit in 64 bits", n, n + 1));
  }
}

int Beam::pulled_triangles(const Place& place, Traction traction) const {
  int triangles = 0;
  for (std::size_t corner = 0; corner < cube_corners; ++corner) {
    const Place bits = shifted({}, corner);
    const Place cube = shifted(place, corner, -1);
    if (!has_cube(cube)) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool is_end = axis == 0 && place[0] == 8 * n_;
      const bool is_side = axis > 0 && cube[0] >= 4 * n_ && (place[axis] == 0 || place[axis] == n_);
      if (!is_end && !(is_side && traction == Traction::surface)) continue;
      const std::size_t b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;  // the square's axes
      triangles += bits[b] == bits[c] ? 2 : 1;
    }
  }
  return triangles;
}

std::array<double, 3> Beam::coordinates(const Place& place) const {
  const auto n = static_cast<double>(n_);
  return {static_cast<double>(place[0]) / n, static_cast<double>(place[1]) / n,
          static_cast<double>(place[2]) / n};
}

std::span<const Field<BeamOptions>> beam_fields() {
  static const std::vector<Field<BeamOptions>> fields = {
      field("traction", &BeamOptions::traction, traction_meaning, {"end", "surface"})};
  return fields;
}

namespace {

MatrixSize beam_size(const GalleryOptions& options) {
  const double n = options.n;
  return {24 * n * (n + 1) * (n + 1), 37 * 24 * n * (n + 1) * (n + 1)};
}

std::vector<double> beam_coordinates(const comm::Layout& rows, const GalleryOptions& options) {
  std::vector<double> coordinates;
  const Beam beam(options.n);
  coordinates.reserve(static_cast<std::size_t>(rows.n_local()));
  for (GlobalIndex i = rows.begin(); i < rows.end(); i += beam_unknowns) {
    const std::array<double, 3> x =
        beam.coordinates(beam.place((i - rows.first()) / beam_unknowns));
    coordinates.insert(coordinates.end(), x.begin(), x.end());
  }
  return coordinates;
}

/// A triangle has half the area of a square of the cubes, a third of which goes to each corner, and
/// the rows are 6 n times the integrals.
std::vector<double> beam_right_hand_side(const comm::Layout& rows, const GalleryOptions& options) {
  const Beam beam(options.n);
  const Traction traction = options.problem.options<BeamOptions>().traction;
  std::vector<double> b(static_cast<std::size_t>(rows.n_local()), 0.0);
  for (GlobalIndex i = rows.begin() + 2; i < rows.end(); i += beam_unknowns) {
    const int triangles =
        beam.pulled_triangles(beam.place((i - rows.first()) / beam_unknowns), traction);
    b[static_cast<std::size_t>(i - rows.begin())] = beam_traction * triangles / options.n;
  }
  return b;
}

template <class T>
matrix::DistMatrix<T> make_beam(const std::shared_ptr<const mpi::Comm>& comm,
                                const GalleryOptions& options) {
  const Beam beam(options.n);
  return make_problem<T>(comm, beam_unknowns * beam.n_points(), beam_rows<T>(beam), beam_unknowns);
}

}  // namespace

const ModelProblem& beam_problem() {
  static const ModelProblem problem = {
      {"beam", "linear elasticity, linear tetrahedra: a cantilever of 8 n x n x n cubes",
       "MFEM, example 2", own_options(beam_fields)},
      {.dimensions = 3,
       .unknowns = beam_unknowns,
       .is_symmetric = true,
       .check = check_nothing,
       .size = beam_size,
       .coordinates = beam_coordinates,
       .in_double = make_beam<double>,
       .in_float = make_beam<float>,
       .right_hand_side = beam_right_hand_side}};
  return problem;
}

}  // namespace nodewise::io::problems
