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

std::array<double, 3> Beam::coordinates(const Place& place) const {
  const auto n = static_cast<double>(n_);
  return {static_cast<double>(place[0]) / n, static_cast<double>(place[1]) / n,
          static_cast<double>(place[2]) / n};
}

namespace {

/// The rows of a point.
constexpr int beam_unknowns = 3;

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
       "MFEM, example 2"},
      {.dimensions = 3,
       .unknowns = beam_unknowns,
       .is_symmetric = true,
       .check = check_nothing,
       .size = beam_size,
       .coordinates = beam_coordinates,
       .in_double = make_beam<double>,
       .in_float = make_beam<float>}};
  return problem;
}

}  // namespace nodewise::io::problems
