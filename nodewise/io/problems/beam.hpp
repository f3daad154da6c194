// Rows of linear elasticity on a beam of two materials, by linear tetrahedra.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "nodewise/base/options.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::io::problems {

/// What the force of the right-hand side pulls at: the free end, or all that is outside of the
/// second half.
enum class Traction { end, surface };
inline constexpr const char* traction_meaning =
    "What the force of `problem_rhs` pulls at: the beam's free end, or all of the surface of its "
    "soft half";

/// The rows of a point.
inline constexpr int beam_unknowns = 3;
/// The force by area, along the last axis.
inline constexpr double beam_traction = -0.01;

struct BeamOptions {
  Traction traction = Traction::end;
};

std::span<const Field<BeamOptions>> beam_fields();

/// Corner c of a cube is that with the bits of c as its coordinates, the slowest axis first.
inline constexpr std::size_t cube_corners = 8;
/// The unknowns of a cube: 3 c + d is the displacement of corner c along axis d.
using CubeStiffness = std::array<std::array<double, 3 * cube_corners>, 3 * cube_corners>;

/// Local. Returns the stiffness of a cube with lambda = mu = 1, times 6 over the length of an edge.
/// The cube is cut into six tetrahedra around its diagonal, one for each order of the axes on a way
/// along edges from corner 0 to corner 7 (Kuhn's subdivision). The entries are whole numbers, so
/// that sums of them are exact in any order.
CubeStiffness cube_stiffness();

/// A corner of cubes, along each axis.
using CubePlace = std::array<GlobalIndex, 3>;

/// Local. The place of corner `corner` of the cube that begins at `place`; with sign -1, where a
/// cube begins whose corner that is.
inline CubePlace shifted(CubePlace place, std::size_t corner, GlobalIndex sign = 1) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    place[axis] += sign * static_cast<GlobalIndex>(corner >> (2 - axis) & 1);
  }
  return place;
}

/// A beam of 8 n x n x n cubes, clamped at its first end. Its points are the corners of the cubes
/// but for those clamped, numbered with the last axis running fastest; the first goes along it.
///
/// It is the problem of MFEM's example 2: 8 x 1 x 1, of two materials, lambda = mu = 50 in the half
/// that begins at the clamped end and 1 in the other. Its 8 n (n + 1)^2 points that are not clamped
/// have the displacements along the three axes as their successive rows; a cube is cut into six
/// tetrahedra. Symmetric positive definite, all entries whole numbers: 6 n times those of the
/// integrals.
class Beam {
 public:
  using Place = CubePlace;

  /// Throws index_overflow where the unknowns, three a point, do not fit in 64 bits.
  explicit Beam(GlobalIndex n);

  GlobalIndex n_points() const { return 8 * n_ * side() * side(); }
  /// The corner of cubes that a point is; those of the clamped end are at 0 along the beam.
  Place place(GlobalIndex point) const {
    return {1 + point / (side() * side()), point / side() % side(), point % side()};
  }
  /// Of a place that is not clamped.
  GlobalIndex point(const Place& place) const {
    return ((place[0] - 1) * side() + place[1]) * side() + place[2];
  }
  /// Whether there is a cube with its corner 0 there.
  bool has_cube(const Place& place) const {
    const auto within = [](GlobalIndex k, GlobalIndex n) { return k >= 0 && k < n; };
    return within(place[0], 8 * n_) && within(place[1], n_) && within(place[2], n_);
  }
  /// lambda and mu of the cube with its corner 0 there.
  double material(const Place& place) const { return place[0] < 4 * n_ ? 50 : 1; }
  /// How many triangles of the pulled surface have a corner there. A square on the surface is cut
  /// from its lowest corner to its highest.
  int pulled_triangles(const Place& place, Traction traction) const;
  /// Returns the coordinates of a place: the beam is 8 long, and 1 high and wide.
  std::array<double, 3> coordinates(const Place& place) const;

 private:
  GlobalIndex side() const { return n_ + 1; }

  GlobalIndex n_;
};

/// The rows 3 p + d of the points p and the directions d, times 6 n. Zeros are left out.
template <class T>
auto beam_rows(const Beam& beam) {
  return [beam, stiffness = cube_stiffness()](GlobalIndex i, auto&& emit) {
    const Beam::Place at = beam.place(i / 3);
    // Of the 3 x 3 x 3 places around, counted from 0.
    std::array<std::array<double, 3>, 27> sums{};
    for (std::size_t own = 0; own < cube_corners; ++own) {
      const Beam::Place cube = shifted(at, own, -1);
      if (!beam.has_cube(cube)) continue;
      const auto& row = stiffness[3 * own + static_cast<std::size_t>(i % 3)];
      for (std::size_t other = 0; other < cube_corners; ++other) {
        const Beam::Place around = shifted(shifted({1, 1, 1}, own, -1), other);
        auto& sum = sums[static_cast<std::size_t>((around[0] * 3 + around[1]) * 3 + around[2])];
        for (std::size_t d = 0; d < 3; ++d) sum[d] += beam.material(cube) * row[3 * other + d];
      }
    }
    for (GlobalIndex k = 0; k < 27; ++k) {
      const Beam::Place to = {at[0] + k / 9 - 1, at[1] + k / 3 % 3 - 1, at[2] + k % 3 - 1};
      if (to[0] == 0) continue;  // clamped
      for (GlobalIndex d = 0; d < 3; ++d) {
        const double value = sums[static_cast<std::size_t>(k)][static_cast<std::size_t>(d)];
        if (value != 0) emit(3 * beam.point(to) + d, static_cast<T>(value));
      }
    }
  };
}

}  // namespace nodewise::io::problems
