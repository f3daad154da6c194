#include "nodewise/io/gallery.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/io/beam.hpp"
#include "nodewise/io/convection.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

using comm::Layout;

/// n^dimensions, checked.
GlobalIndex points(GlobalIndex n, int dimensions) {
  GlobalIndex total = n;
  for (int d = 1; d < dimensions; ++d) {
    if (total > std::numeric_limits<GlobalIndex>::max() / n) {
      throw Error(ErrorCode::index_overflow,
                  fmt::format("problem: {}^{} rows do not fit in 64 bits", n, dimensions));
    }
    total *= n;
  }
  return total;
}

/// stencil[1 + a][1 + b] couples a point to the one `a` steps further along the slow axis of the
/// numbering and `b` along the fast one.
using Stencil2 = std::array<std::array<double, 3>, 3>;

/// Rows of a 3 x 3 stencil on the n x n interior points, zeros left out.
template <class T>
auto rows_of(const Stencil2& stencil, GlobalIndex n) {
  std::array<std::array<T, 3>, 3> values;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) values[a][b] = static_cast<T>(stencil[a][b]);
  }
  return [values, n](GlobalIndex i, auto&& emit) {
    const GlobalIndex slow = i / n;
    const GlobalIndex fast = i % n;
    for (GlobalIndex a = slow > 0 ? -1 : 0; a <= (slow + 1 < n ? 1 : 0); ++a) {
      for (GlobalIndex b = fast > 0 ? -1 : 0; b <= (fast + 1 < n ? 1 : 0); ++b) {
        const T value = values[static_cast<std::size_t>(a + 1)][static_cast<std::size_t>(b + 1)];
        if (value != 0) emit(i + a * n + b, value);
      }
    }
  };
}

/// Rows of the 7-point and the 27-point Laplacian on n^3 interior points.
template <class T>
auto laplace7_rows(GlobalIndex n) {
  return [n](GlobalIndex i, auto&& emit) {
    const GlobalIndex x = i % n;
    const GlobalIndex y = i / n % n;
    const GlobalIndex z = i / n / n;
    if (z > 0) emit(i - n * n, T(-1));
    if (y > 0) emit(i - n, T(-1));
    if (x > 0) emit(i - 1, T(-1));
    emit(i, T(6));
    if (x + 1 < n) emit(i + 1, T(-1));
    if (y + 1 < n) emit(i + n, T(-1));
    if (z + 1 < n) emit(i + n * n, T(-1));
  };
}

template <class T>
auto laplace27_rows(GlobalIndex n) {
  return [n](GlobalIndex i, auto&& emit) {
    const GlobalIndex x = i % n;
    const GlobalIndex y = i / n % n;
    const GlobalIndex z = i / n / n;
    const GlobalIndex x_low = x > 0 ? -1 : 0;
    const GlobalIndex x_high = x + 1 < n ? 1 : 0;
    for (GlobalIndex dz = z > 0 ? -1 : 0; dz <= (z + 1 < n ? 1 : 0); ++dz) {
      for (GlobalIndex dy = y > 0 ? -1 : 0; dy <= (y + 1 < n ? 1 : 0); ++dy) {
        const GlobalIndex line = i + (dz * n + dy) * n;
        for (GlobalIndex k = line + x_low; k <= line + x_high; ++k) {
          emit(k, k == i ? T(26) : T(-1));
        }
      }
    }
  };
}

/// The diffusion tensor Q diag(1, epsilon) Q^T, Q turning by `angle` from the first (slow) axis to
/// the second.
struct Tensor {
  double first, second, mixed;

  explicit Tensor(const GalleryOptions& options) {
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

/// `entries` different columns other than the row's, hashed, with values in (-1, 1) not symmetric,
/// and a diagonal one larger than the sum of their magnitudes.
template <class T>
auto random_rows(GlobalIndex n, const GalleryOptions& options) {
  return [n, wanted = static_cast<std::size_t>(options.entries),
          seed = static_cast<std::uint64_t>(options.seed),
          columns = std::vector<GlobalIndex>()](GlobalIndex i, auto&& emit) mutable {
    columns.clear();
    double magnitudes = 0;
    for (std::uint64_t draw = 0; columns.size() < wanted; ++draw) {
      const std::uint64_t key = hash64(static_cast<std::uint64_t>(i), hash64(draw, seed));
      const auto column = static_cast<GlobalIndex>(key % static_cast<std::uint64_t>(n));
      if (column == i || std::find(columns.begin(), columns.end(), column) != columns.end()) {
        continue;
      }
      columns.push_back(column);
      const double value = 2 * hash_uniform(key, seed + 1) - 1;
      magnitudes += std::abs(value);
      emit(column, static_cast<T>(value));
    }
    emit(i, static_cast<T>(1 + magnitudes));
  };
}

void check(const GalleryOptions& options) {
  const auto refuse = [](const std::string& text) {
    throw Error(ErrorCode::invalid_argument, "problem: " + text);
  };
  if (options.n < 1) refuse(fmt::format("n is {}, needs >= 1", options.n));
  if (!(options.epsilon > 0) || !std::isfinite(options.epsilon)) {
    refuse(fmt::format("epsilon is {}, needs > 0", options.epsilon));
  }
  if (!std::isfinite(options.angle)) refuse("angle is not finite");
  if (!(options.diffusion >= 0) || !std::isfinite(options.diffusion)) {
    refuse(fmt::format("diffusion is {}, needs >= 0", options.diffusion));
  }
  if (options.problem == Problem::convection2d && options.flow == Flow::recirculating &&
      options.diffusion == 0) {
    refuse("diffusion is 0, needs > 0 where the flow recirculates: it stands still at the centre");
  }
  if (options.problem == Problem::random && (options.entries < 0 || options.entries >= options.n)) {
    refuse(fmt::format("entries is {}, needs 0 .. n - 1 = {}", options.entries, options.n - 1));
  }
}

template <class T, class Rows>
matrix::DistMatrix<T> make(const std::shared_ptr<const mpi::Comm>& comm, GlobalIndex n, Rows&& rows,
                           int unknowns = 1) {
  const Layout layout = comm::uniform_points(comm, n, unknowns);
  return matrix::matrix_from_rows<T>(layout, layout, rows);
}

}  // namespace

int unknowns_of(Problem problem) {
  return problem == Problem::beam ? 3 : 1;
}

std::vector<double> point_coordinates(const Layout& rows, const GalleryOptions& options) {
  std::vector<double> coordinates;
  if (options.problem != Problem::beam) return coordinates;
  const Beam beam(options.n);
  coordinates.reserve(static_cast<std::size_t>(rows.n_local()));
  for (GlobalIndex i = rows.begin(); i < rows.end(); i += 3) {
    const std::array<double, 3> x = beam.coordinates(beam.place((i - rows.first()) / 3));
    coordinates.insert(coordinates.end(), x.begin(), x.end());
  }
  return coordinates;
}

std::span<const Field<GalleryOptions>> gallery_fields() {
  using S = GalleryOptions;
  static const std::vector<Field<S>> fields = {
      field("problem", &S::problem, "The model problem",
            {"laplace5", "laplace7", "laplace9", "laplace27", "rotated_fe", "rotated_fd", "random",
             "convection2d", "convection3d", "beam"})
          .common('p'),
      field("n", &S::n,
            "Points in each direction; rows of the random matrix; cubes across the beam, which is "
            "eight times as long",
            1)
          .common('n'),
      field(
          "angle", &S::angle,
          "Radians by which the strong direction of the rotated problems, or the constant flow of "
          "the convection problems, is turned",
          -std::numeric_limits<double>::infinity()),
      field("epsilon", &S::epsilon, "Diffusion in the weak direction of the rotated problems",
            std::numeric_limits<double>::min()),
      field("diffusion", &S::diffusion, "Diffusion of the convection problems", 0.0),
      field("flow", &S::flow,
            "Velocity of the convection problems: constant, by `angle`; rotating around a corner; "
            "recirculating, which needs diffusion",
            {"constant", "rotating", "recirculating"}),
      field("entries", &S::entries, "Entries off the diagonal in each row of the random matrix", 0),
      field("seed", &S::seed, "Seed of the random matrix", 0)};
  return fields;
}

template <class T>
matrix::DistMatrix<T> generate(std::shared_ptr<const mpi::Comm> comm,
                               const GalleryOptions& options) {
  std::uint64_t given = 0;
  const auto error = mpi::caught([&] {
    check(options);
    given = hash_of(options, gallery_fields());
  });
  mpi::agree_on_same(*comm, error, {given, "problem: the options"});
  const GlobalIndex n = options.n;
  const auto stencil = [&](const Stencil2& values) {
    return make<T>(comm, points(n, 2), rows_of<T>(values, n));
  };
  switch (options.problem) {
    case Problem::laplace5:
      return stencil({{{0, -1, 0}, {-1, 4, -1}, {0, -1, 0}}});
    case Problem::laplace9:
      return stencil({{{-1, -1, -1}, {-1, 8, -1}, {-1, -1, -1}}});
    case Problem::laplace7:
      return make<T>(comm, points(n, 3), laplace7_rows<T>(n));
    case Problem::laplace27:
      return make<T>(comm, points(n, 3), laplace27_rows<T>(n));
    case Problem::rotated_fe:
      return stencil(rotated_fe_stencil(Tensor(options)));
    case Problem::rotated_fd:
      return stencil(rotated_fd_stencil(Tensor(options)));
    case Problem::random:
      return make<T>(comm, n, random_rows<T>(n, options));
    case Problem::convection2d:
      return make<T>(comm, points(n, 2), convection_rows<T, 2>(n, options));
    case Problem::convection3d:
      return make<T>(comm, points(n, 3), convection_rows<T, 3>(n, options));
    case Problem::beam: {
      const Beam beam(n);
      const int unknowns = unknowns_of(options.problem);
      return make<T>(comm, unknowns * beam.n_points(), beam_rows<T>(beam), unknowns);
    }
  }
  throw Error(ErrorCode::invalid_argument, "problem: unknown");
}

template matrix::DistMatrix<float> generate(std::shared_ptr<const mpi::Comm>,
                                            const GalleryOptions&);
template matrix::DistMatrix<double> generate(std::shared_ptr<const mpi::Comm>,
                                             const GalleryOptions&);

}  // namespace nodewise::io
