#include "nodewise/io/problems/unstructured.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/io/problems/grid.hpp"
#include "nodewise/io/problems/shuffled_numbers.hpp"

namespace nodewise::io::problems {

std::span<const Field<UnstructuredOptions>> unstructured_fields() {
  using S = UnstructuredOptions;
  static const std::vector<Field<S>> fields = {
      field("seed", &S::seed, seed_meaning, 0),
      field("shuffled", &S::shuffled, shuffled_meaning, 1)};
  return fields;
}

namespace {

// With a third of the neighbours along an axis joined by the tree, eight tenths of these six and a
// tenth of the twelve across an edge make six neighbours.
constexpr double kept_along_axes = 0.7, kept_across_edges = 0.1;
constexpr double largest_shift = 0.3;  // of a point, in widths of the grid

/// What numbers are drawn for.
enum class Draw : std::uint64_t { shift, parent, opening, face, wall };

/// Steps to half of a point's neighbours, those behind it in the grid's order: along the axes, and
/// across the edges of a cube.
using Step = std::array<GlobalIndex, 3>;
constexpr std::array<Step, 9> forward_steps = {{{0, 0, 1},
                                                {0, 1, 0},
                                                {1, 0, 0},
                                                {0, 1, -1},
                                                {0, 1, 1},
                                                {1, 0, -1},
                                                {1, 0, 1},
                                                {1, -1, 0},
                                                {1, 1, 0}}};
constexpr std::size_t n_axes = 3;  // the first of these steps; axis a is [2 - a] of a place

/// The finite volumes around the points of a grid that were shifted, some faces of which are
/// closed. The faces to the parents, of which each point but the first has one before it, are open,
/// so that all volumes are connected. Where the grid ends the solution is zero.
class Mesh {
 public:
  Mesh(GlobalIndex n, const UnstructuredOptions& own)
      : n_(n),
        seed_(static_cast<std::uint64_t>(own.seed)),
        numbers_(n * n * n, own.shuffled, hash64(seed_, 1)) {}

  /// Calls emit(column, value) for the entries of a row.
  template <class Emit>
  void row(GlobalIndex i, const Emit& emit) const {
    const GlobalIndex point = numbers_.unshuffled(i);
    const Step place = {point / n_ / n_, point / n_ % n_, point % n_};
    double sum = 0;
    for (std::size_t s = 0; s < forward_steps.size(); ++s) {
      for (const GlobalIndex sign : {-1, 1}) {
        const Step other = moved(place, s, sign);
        if (!contains(other)) {
          if (s < n_axes) sum += face_area(point, Draw::wall, 2 * s + (sign > 0 ? 1 : 0));
          continue;
        }
        const double value = sign > 0 ? coupling(place, other, s) : coupling(other, place, s);
        if (value == 0) continue;
        sum += value;
        emit(numbers_.shuffled(number(other)), -value);
      }
    }
    emit(i, sum);
  }

 private:
  double uniform(GlobalIndex point, Draw what, std::size_t which = 0) const {
    const std::uint64_t draw = hash64(which, hash64(static_cast<std::uint64_t>(what), seed_));
    return hash_uniform(static_cast<std::uint64_t>(point), draw);
  }
  static Step moved(const Step& place, std::size_t step, GlobalIndex sign) {
    Step other = place;
    for (std::size_t a = 0; a < other.size(); ++a) other[a] += sign * forward_steps[step][a];
    return other;
  }
  bool contains(const Step& place) const {
    for (const GlobalIndex x : place) {
      if (x < 0 || x >= n_) return false;
    }
    return true;
  }
  GlobalIndex number(const Step& place) const { return (place[0] * n_ + place[1]) * n_ + place[2]; }

  /// Between half and one and a half of a face of the grid.
  double face_area(GlobalIndex point, Draw what, std::size_t which) const {
    return 0.5 + uniform(point, what, which);
  }
  /// The step that leads to a point from its parent: one of those along axes.
  std::size_t step_to(const Step& place) const {
    std::array<std::size_t, n_axes> possible = {};
    std::size_t n_possible = 0;
    for (std::size_t s = 0; s < n_axes; ++s) {
      if (place[2 - s] > 0) possible[n_possible++] = s;
    }
    const double chosen = uniform(number(place), Draw::parent) * static_cast<double>(n_possible);
    return possible[static_cast<std::size_t>(chosen)];
  }
  /// Area by distance of the face between two points, `step` apart; zero where it is closed. The
  /// same number whichever row asks.
  double coupling(const Step& low, const Step& high, std::size_t step) const {
    const GlobalIndex a = number(low), b = number(high);
    const double kept = step < n_axes ? kept_along_axes : kept_across_edges;
    const bool is_tree = step < n_axes && step_to(high) == step;
    if (!is_tree && uniform(a, Draw::opening, step) >= kept) return 0;
    double squares = 0;
    for (std::size_t axis = 0; axis < low.size(); ++axis) {
      const double shift = uniform(b, Draw::shift, axis) - uniform(a, Draw::shift, axis);
      const double distance =
          static_cast<double>(high[axis] - low[axis]) + 2 * largest_shift * shift;
      squares += distance * distance;
    }
    return face_area(a, Draw::face, step) / std::sqrt(squares);
  }

  GlobalIndex n_;
  std::uint64_t seed_;
  ShuffledNumbers numbers_;
};

void check_unstructured(const GalleryOptions& options) {
  const UnstructuredOptions& own = options.problem.options<UnstructuredOptions>();
  check_shuffled(own.seed, own.shuffled);
}

template <class T>
matrix::DistMatrix<T> make_unstructured(const std::shared_ptr<const mpi::Comm>& comm,
                                        const GalleryOptions& options) {
  const GlobalIndex n_rows = n_points(options.n, 3);
  const Mesh mesh(options.n, options.problem.options<UnstructuredOptions>());
  return make_problem<T>(comm, n_rows, [&mesh](GlobalIndex i, auto&& emit) {
    mesh.row(i, [&](GlobalIndex column, double value) { emit(column, static_cast<T>(value)); });
  });
}

}  // namespace

const ModelProblem& unstructured_problem() {
  static const ModelProblem problem = {
      {"unstructured", "Poisson in a cube, finite volumes around n^3 points of an irregular mesh",
       "after the sAMG case of Schubert, Hager, Fehske, Wellein 2011",
       own_options(unstructured_fields)},
      {.dimensions = 3,
       .unknowns = 1,
       .is_symmetric = true,
       .check = check_unstructured,
       .size = grid_size<3, 7>,
       .coordinates = nullptr,
       .in_double = make_unstructured<double>,
       .in_float = make_unstructured<float>}};
  return problem;
}

}  // namespace nodewise::io::problems
