// Linear elasticity on an irregular mesh of the beam.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "nodewise/base/options.hpp"
#include "nodewise/io/problems/beam.hpp"
#include "nodewise/io/problems/shuffled_numbers.hpp"

namespace nodewise::io::problems {

struct UnstructuredBeamOptions {
  Traction traction = Traction::end;
  int seed = 0;
  int shuffled = 512;  ///< successive points whose numbers are shuffled
};

std::span<const Field<UnstructuredBeamOptions>> unstructured_beam_fields();

/// The beam of beam.hpp, 8 n x n x n cubes whose corners are shifted by at most a seventh of an
/// edge; where a corner is on the surface, or between the two materials, it stays there. Each cube
/// has a point more, in the mean of its corners. Each face of a cube is cut along one of its
/// diagonals, which is drawn; the two triangles and the point inside make two tetrahedra, twelve in
/// all. So faces fit each other, and points have from 8 to 26 neighbours. Any rank finds any
/// tetrahedron by hashes.
class BeamMesh {
 public:
  using Place = Beam::Place;
  static constexpr std::size_t n_tetrahedra = 12, n_vertices = 9;
  static constexpr std::size_t centre = 8;  ///< the vertex inside, behind a cube's corners
  /// Corners c of a cube as in beam.hpp.
  using Triangle = std::array<std::size_t, 3>;
  using Coordinates = std::array<double, 3>;

  /// What a cube is made of.
  struct Cube {
    Place place;                                   ///< of its corner 0
    std::array<Coordinates, n_vertices> vertices;  ///< in edges of a cube
    /// Each with the point inside; face f's are 2 f and 2 f + 1. Face 2 a is that where axis a
    /// begins, 2 a + 1 the one across.
    std::array<Triangle, n_tetrahedra> triangles;
  };

  /// Throws index_overflow where the unknowns, three a point, do not fit in 64 bits.
  BeamMesh(GlobalIndex n, const UnstructuredBeamOptions& options);

  const Beam& beam() const { return beam_; }
  GlobalIndex n_points() const { return n_points_; }
  Cube cube(const Place& place) const;
  /// The number of a vertex of a cube; -1 where it is clamped.
  GlobalIndex number(const Place& cube, std::size_t vertex) const;
  Coordinates coordinates(GlobalIndex point) const;
  /// The cubes around a point, ascending, and which of their vertices it is: calls f(place,
  /// vertex).
  template <class F>
  void visit_cubes(GlobalIndex point, F&& f) const {
    const auto [place, is_centre] = place_of(point);
    if (is_centre) return f(place, centre);
    for (std::size_t corner = cube_corners; corner-- > 0;) {
      const Place cube = shifted(place, corner, -1);
      if (beam_.has_cube(cube)) f(cube, corner);
    }
  }

 private:
  /// A corner of cubes, or the corner 0 of the cube that a point is inside of.
  struct PointPlace {
    Place place;
    bool is_centre;
  };
  PointPlace place_of(GlobalIndex point) const;
  Coordinates corner(const Place& place) const;
  bool is_cut_from_corner(const Place& face, std::size_t axis) const;
  GlobalIndex of_layer() const { return n_ * n_ + (n_ + 1) * (n_ + 1); }

  GlobalIndex n_;
  Beam beam_;
  std::uint64_t seed_;
  GlobalIndex n_points_;
  ShuffledNumbers numbers_;
};

}  // namespace nodewise::io::problems
