#include "nodewise/io/problems/unstructured_beam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

std::span<const Field<UnstructuredBeamOptions>> unstructured_beam_fields() {
  using S = UnstructuredBeamOptions;
  static const std::vector<Field<S>> fields = {
      field("traction", &S::traction, traction_meaning, {"end", "surface"}),
      field("seed", &S::seed, seed_meaning, 0),
      field("shuffled", &S::shuffled, shuffled_meaning, 1)};
  return fields;
}

namespace {

constexpr double largest_corner_shift =
    1.0 / 7;  // of a corner, in edges: no tetrahedron turns over

/// What numbers are drawn for; `numbering` is hash64(seed, 1) of others, too.
enum class BeamDraw : std::uint64_t { shift = 2, diagonal };

using Coordinates = BeamMesh::Coordinates;

Coordinates minus(const Coordinates& a, const Coordinates& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Coordinates cross(const Coordinates& a, const Coordinates& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Coordinates& a, const Coordinates& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Throws index_overflow where the rows do not fit.
GlobalIndex count_points(GlobalIndex n) {
  constexpr GlobalIndex largest = std::numeric_limits<GlobalIndex>::max();
  if (n > largest / 48 / (n + 1) / (n + 1)) {
    throw Error(ErrorCode::index_overflow,
                fmt::format("problem: the 24 * {0} * ({0}^2 + {1}^2) rows of an unstructured beam "
                            "do not fit in 64 bits",
                            n, n + 1));
  }
  return 8 * n * (n * n + (n + 1) * (n + 1));
}

}  // namespace

BeamMesh::BeamMesh(GlobalIndex n, const UnstructuredBeamOptions& options)
    : n_(n),
      beam_(n),
      seed_(static_cast<std::uint64_t>(options.seed)),
      n_points_(count_points(n)),
      numbers_(n_points_, options.shuffled, hash64(seed_, 1)) {}

/// Before it is shuffled: by layers of cubes along the beam, in each the points inside before those
/// at the far side.
GlobalIndex BeamMesh::number(const Place& cube, std::size_t vertex) const {
  if (vertex == centre) return numbers_.shuffled(cube[0] * of_layer() + cube[1] * n_ + cube[2]);
  const Place at = shifted(cube, vertex);
  if (at[0] == 0) return -1;
  return numbers_.shuffled((at[0] - 1) * of_layer() + n_ * n_ + at[1] * (n_ + 1) + at[2]);
}

BeamMesh::PointPlace BeamMesh::place_of(GlobalIndex point) const {
  const GlobalIndex unshuffled = numbers_.unshuffled(point);
  const GlobalIndex layer = unshuffled / of_layer();
  GlobalIndex rest = unshuffled % of_layer();
  if (rest < n_ * n_) return {{layer, rest / n_, rest % n_}, true};
  rest -= n_ * n_;
  return {{layer + 1, rest / (n_ + 1), rest % (n_ + 1)}, false};
}

Coordinates BeamMesh::corner(const Place& place) const {
  const GlobalIndex key = (place[0] * (n_ + 1) + place[1]) * (n_ + 1) + place[2];
  Coordinates at{};
  for (std::size_t a = 0; a < 3; ++a) {
    at[a] = static_cast<double>(place[a]);
    const bool stays =
        place[a] == 0 || place[a] == (a == 0 ? 8 * n_ : n_) || (a == 0 && place[a] == 4 * n_);
    if (stays) continue;
    const std::uint64_t draw =
        hash64(a, hash64(static_cast<std::uint64_t>(BeamDraw::shift), seed_));
    at[a] += largest_corner_shift * (2 * hash_uniform(static_cast<std::uint64_t>(key), draw) - 1);
  }
  return at;
}

/// Whether the diagonal of the face that begins at `face` across `axis` leads through that corner.
bool BeamMesh::is_cut_from_corner(const Place& face, std::size_t axis) const {
  const GlobalIndex key = (face[0] * (n_ + 1) + face[1]) * (n_ + 1) + face[2];
  const std::uint64_t draw =
      hash64(axis, hash64(static_cast<std::uint64_t>(BeamDraw::diagonal), seed_));
  return (hash64(static_cast<std::uint64_t>(key), draw) & 1) == 0;
}

BeamMesh::Cube BeamMesh::cube(const Place& place) const {
  Cube cube = {place, {}, {}};
  for (std::size_t c = 0; c < cube_corners; ++c) {
    cube.vertices[c] = corner(shifted(place, c));
    for (std::size_t a = 0; a < 3; ++a) cube.vertices[centre][a] += cube.vertices[c][a] / 8;
  }
  for (std::size_t face = 0; face < 6; ++face) {
    const std::size_t axis = face / 2, side = face % 2;
    const auto bit = [](std::size_t a) { return std::size_t{4} >> a; };
    const std::size_t b = bit((axis + 1) % 3), c = bit((axis + 2) % 3);
    const std::size_t base = side * bit(axis);
    Place begin = place;
    begin[axis] += static_cast<GlobalIndex>(side);
    const bool through_base = is_cut_from_corner(begin, axis);
    cube.triangles[2 * face] =
        through_base ? Triangle{base, base + b, base + b + c} : Triangle{base, base + b, base + c};
    cube.triangles[2 * face + 1] = through_base ? Triangle{base, base + b + c, base + c}
                                                : Triangle{base + b, base + b + c, base + c};
  }
  return cube;
}

Coordinates BeamMesh::coordinates(GlobalIndex point) const {
  const auto [place, is_centre] = place_of(point);
  Coordinates at = is_centre ? cube(place).vertices[centre] : corner(place);
  for (double& x : at) x /= static_cast<double>(n_);
  return at;
}

namespace {

/// The couplings of a point's three displacements with those of each point around.
class PointRows {
 public:
  PointRows(const BeamMesh& mesh, GlobalIndex point) : mesh_(mesh), point_(point) {
    mesh.visit_cubes(point, [&](const Beam::Place& place, std::size_t vertex) {
      const BeamMesh::Cube cube = mesh.cube(place);
      for (const BeamMesh::Triangle& t : cube.triangles) {
        add_tetrahedron(cube, {BeamMesh::centre, t[0], t[1], t[2]}, vertex);
      }
    });
  }

  GlobalIndex point() const { return point_; }

  template <class Emit>
  void emit(std::size_t direction, const Emit& emit) const {
    for (const auto& [point, rows] : sums_) {
      for (std::size_t d = 0; d < 3; ++d) {
        emit(beam_unknowns * point + static_cast<GlobalIndex>(d), rows[direction][d]);
      }
    }
  }

 private:
  using Rows = std::array<Coordinates, 3>;

  /// lambda div u div v + 2 mu e(u) : e(v), times 6 n: as those of the regular beam. An entry and
  /// its mirror image are the same sums of the same products, so that they are equal.
  void add_tetrahedron(const BeamMesh::Cube& cube, const std::array<std::size_t, 4>& corners,
                       std::size_t vertex) {
    const auto own = static_cast<std::size_t>(std::find(corners.begin(), corners.end(), vertex) -
                                              corners.begin());
    if (own == corners.size()) return;
    const Coordinates& origin = cube.vertices[corners[0]];
    std::array<Coordinates, 4> g{};  // gradients, times six volumes
    const Coordinates x = minus(cube.vertices[corners[1]], origin);
    const Coordinates y = minus(cube.vertices[corners[2]], origin);
    const Coordinates z = minus(cube.vertices[corners[3]], origin);
    g[1] = cross(y, z);
    g[2] = cross(z, x);
    g[3] = cross(x, y);
    for (std::size_t a = 0; a < 3; ++a) g[0][a] = -(g[1][a] + g[2][a] + g[3][a]);
    const double scale = mesh_.beam().material(cube.place) / std::abs(dot(x, g[1]));
    for (std::size_t other = 0; other < 4; ++other) {
      const GlobalIndex point = mesh_.number(cube.place, corners[other]);
      if (point < 0) continue;
      Rows& sums = rows_with(point);
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t d = 0; d < 3; ++d) {
          const double twice = g[own][c] * g[other][d] + g[own][d] * g[other][c];
          sums[c][d] += scale * (twice + (d == c ? dot(g[own], g[other]) : 0));
        }
      }
    }
  }

  Rows& rows_with(GlobalIndex point) {
    for (auto& [known, rows] : sums_) {
      if (known == point) return rows;
    }
    return sums_.emplace_back(point, Rows{}).second;
  }

  const BeamMesh& mesh_;
  GlobalIndex point_;
  std::vector<std::pair<GlobalIndex, Rows>> sums_;
};

/// Of a cube's pulled triangles at a vertex: twice their areas, in squares of an edge.
double pulled_area(const BeamMesh& mesh, const BeamMesh::Cube& cube, std::size_t vertex,
                   Traction traction) {
  double area = 0;
  for (std::size_t t = 0; t < cube.triangles.size(); ++t) {
    const BeamMesh::Triangle& corners = cube.triangles[t];
    if (std::find(corners.begin(), corners.end(), vertex) == corners.end()) continue;
    const std::size_t axis = t / 4, side = t / 2 % 2;
    Beam::Place behind = cube.place;
    behind[axis] += side == 1 ? 1 : -1;
    if (mesh.beam().has_cube(behind)) continue;  // inside
    const bool is_end = axis == 0 && side == 1;
    const bool is_soft_side = axis > 0 && mesh.beam().material(cube.place) == 1;
    if (!is_end && !(is_soft_side && traction == Traction::surface)) continue;
    const Coordinates& origin = cube.vertices[corners[0]];
    const Coordinates normal =
        cross(minus(cube.vertices[corners[1]], origin), minus(cube.vertices[corners[2]], origin));
    area += std::sqrt(dot(normal, normal));
  }
  return area;
}

/// A third of a triangle's force goes to each corner, and the rows are 6 n times the integrals.
std::vector<double> mesh_right_hand_side(const comm::Layout& rows, const GalleryOptions& options) {
  const auto& own = options.problem.options<UnstructuredBeamOptions>();
  const BeamMesh mesh(options.n, own);
  std::vector<double> b(static_cast<std::size_t>(rows.n_local()), 0.0);
  for (GlobalIndex i = rows.begin(); i < rows.end(); i += beam_unknowns) {
    double area = 0;
    mesh.visit_cubes((i - rows.first()) / beam_unknowns,
                     [&](const Beam::Place& place, std::size_t vertex) {
                       area += pulled_area(mesh, mesh.cube(place), vertex, own.traction);
                     });
    b[static_cast<std::size_t>(i + 2 - rows.begin())] = beam_traction * area / options.n;
  }
  return b;
}

std::vector<double> mesh_coordinates(const comm::Layout& rows, const GalleryOptions& options) {
  const BeamMesh mesh(options.n, options.problem.options<UnstructuredBeamOptions>());
  std::vector<double> coordinates;
  coordinates.reserve(static_cast<std::size_t>(rows.n_local()));
  for (GlobalIndex i = rows.begin(); i < rows.end(); i += beam_unknowns) {
    const Coordinates x = mesh.coordinates((i - rows.first()) / beam_unknowns);
    coordinates.insert(coordinates.end(), x.begin(), x.end());
  }
  return coordinates;
}

MatrixSize mesh_size(const GalleryOptions& options) {
  const double n = options.n;
  const double rows = 24 * n * (n * n + (n + 1) * (n + 1));
  return {rows, 45 * rows};
}

void check_mesh(const GalleryOptions& options) {
  const auto& own = options.problem.options<UnstructuredBeamOptions>();
  check_shuffled(own.seed, own.shuffled);
}

template <class T>
matrix::DistMatrix<T> make_mesh_beam(const std::shared_ptr<const mpi::Comm>& comm,
                                     const GalleryOptions& options) {
  const BeamMesh mesh(options.n, options.problem.options<UnstructuredBeamOptions>());
  std::optional<PointRows> latest;  // successive rows are of one point
  const auto rows = [&](GlobalIndex i, auto&& emit) {
    const GlobalIndex point = i / beam_unknowns;
    if (!latest || latest->point() != point) latest.emplace(mesh, point);
    latest->emit(static_cast<std::size_t>(i % beam_unknowns),
                 [&](GlobalIndex column, double value) { emit(column, static_cast<T>(value)); });
  };
  return make_problem<T>(comm, beam_unknowns * mesh.n_points(), rows, beam_unknowns);
}

}  // namespace

const ModelProblem& unstructured_beam_problem() {
  static const ModelProblem problem = {
      {"unstructured_beam",
       "linear elasticity, linear tetrahedra of an irregular mesh: a cantilever of 8 n x n x n "
       "cubes, each cut into twelve",
       "MFEM, example 2; Gahvari, Gropp, Jordan, Schulz, Yang 2014",
       own_options(unstructured_beam_fields)},
      {.dimensions = 3,
       .unknowns = beam_unknowns,
       .is_symmetric = true,
       .check = check_mesh,
       .size = mesh_size,
       .coordinates = mesh_coordinates,
       .in_double = make_mesh_beam<double>,
       .in_float = make_mesh_beam<float>,
       .right_hand_side = mesh_right_hand_side}};
  return problem;
}

}  // namespace nodewise::io::problems
