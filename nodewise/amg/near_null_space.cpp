#include "nodewise/amg/near_null_space.hpp"

#include <array>
#include <cmath>
#include <string>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

using comm::Layout;

template <class T>
NearNullSpace<T> constant_vectors(const Layout& rows, int unknowns) {
  require_whole_points(rows, unknowns);
  const auto n = static_cast<std::size_t>(rows.n_local());
  const auto k = static_cast<std::size_t>(unknowns);
  NearNullSpace<T> constants{unknowns, std::vector<T>(n * k, T{})};
  for (std::size_t i = 0; i < n; ++i) constants.row(i)[i % k] = T{1};
  return constants;
}

namespace {

/// The velocities of a point at x, relative to the centre, under the rotations: one row for each
/// direction of space.
template <class T>
void fill_rotations(std::span<const T> x, NearNullSpace<T>& modes, std::size_t row) {
  if (x.size() == 2) {
    modes.row(row)[2] = -x[1];
    modes.row(row + 1)[2] = x[0];
    return;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t next = (axis + 1) % 3;
    const std::size_t last = (axis + 2) % 3;
    modes.row(row + next)[3 + axis] = -x[last];
    modes.row(row + last)[3 + axis] = x[next];
  }
}

std::vector<double> mean(const Layout& points, std::size_t d, std::span<const double> coordinates) {
  std::vector<double> sums(d, 0.0);
  for (std::size_t k = 0; k < coordinates.size(); ++k) sums[k % d] += coordinates[k];
  mpi::sum_in_place(points.comm(), std::span(sums));
  for (double& sum : sums) sum /= static_cast<double>(std::max<GlobalIndex>(1, points.n_global()));
  return sums;
}

void check_coordinates(const Layout& points, std::size_t d, std::span<const double> coordinates) {
  if (coordinates.size() != static_cast<std::size_t>(points.n_local()) * d) {
    throw Error(ErrorCode::dimension_mismatch,
                "rigid body modes: " + std::to_string(coordinates.size()) + " coordinates for " +
                    std::to_string(points.n_local()) + " points of " + std::to_string(d) +
                    " dimensions");
  }
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    if (std::isfinite(coordinates[k])) continue;
    const auto point = points.to_global(static_cast<LocalIndex>(k / d));
    throw Error(ErrorCode::invalid_argument, "rigid body modes: a coordinate of point " +
                                                 std::to_string(point + 1) + " is not finite");
  }
}

}  // namespace

template <class T>
NearNullSpace<T> rigid_body_modes(const Layout& rows, int dimensions,
                                  std::span<const double> coordinates) {
  if (dimensions != 2 && dimensions != 3) {
    throw Error(
        ErrorCode::invalid_argument,
        "rigid body modes: 2 or 3 dimensions are possible, not " + std::to_string(dimensions));
  }
  const Layout points = points_of(rows, dimensions);
  const auto d = static_cast<std::size_t>(dimensions);
  mpi::collectively(points.comm(), [&] { check_coordinates(points, d, coordinates); });
  const std::vector<double> centre = mean(points, d, coordinates);
  return mpi::collectively(points.comm(), [&] {
    const std::size_t k = d == 2 ? 3 : 6;
    NearNullSpace<T> modes{static_cast<int>(k), std::vector<T>(coordinates.size() * k, T{})};
    std::vector<T> x(d);
    for (std::size_t row = 0; row < coordinates.size(); row += d) {
      for (std::size_t c = 0; c < d; ++c) {
        x[c] = static_cast<T>(coordinates[row + c] - centre[c]);
        modes.row(row + c)[c] = T{1};
      }
      fill_rotations<T>(x, modes, row);
    }
    return modes;
  });
}

namespace {

/// sums += the rows of one part of A times the vectors, for row i.
template <class T>
void add_row(const kernels::Csr<T>& part, LocalIndex i, std::span<const T> x,
             std::span<double> sums) {
  for (auto p = static_cast<std::size_t>(part.begin(i)); p < static_cast<std::size_t>(part.end(i));
       ++p) {
    const auto a = static_cast<double>(part.vals[p]);
    const auto at = static_cast<std::size_t>(part.cols[p]) * sums.size();
    for (std::size_t v = 0; v < sums.size(); ++v) sums[v] += a * static_cast<double>(x[at + v]);
  }
}

template <class T>
void require_rows(const matrix::DistMatrix<T>& A, const NearNullSpace<T>& vectors) {
  const auto k = static_cast<std::size_t>(vectors.n_vectors);
  if (vectors.values.size() == static_cast<std::size_t>(A.n_local()) * k) return;
  throw Error(ErrorCode::dimension_mismatch,
              "near null space: the vectors do not have the rows of the matrix");
}

}  // namespace

template <class T>
NearNullSpace<T> improved(const matrix::DistMatrix<T>& A, NearNullSpace<T> vectors, int sweeps,
                          double spectral_radius) {
  if (vectors.n_vectors == 0 || sweeps <= 0 || !(spectral_radius > 0)) return vectors;
  const auto k = static_cast<std::size_t>(vectors.n_vectors);
  std::vector<T> ghosts, before;
  Array<T> diagonal;
  mpi::collectively(A.comm(), [&] {
    require_rows(A, vectors);
    ghosts.resize(static_cast<std::size_t>(A.n_ghosts()) * k);
    before.resize(vectors.values.size());
    diagonal = matrix::diagonal(A);
  });
  const double damping = 4.0 / 3.0 / spectral_radius;
  std::vector<double> sums(k);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    std::swap(before, vectors.values);
    A.exchange().forward(std::span<const T>(before), std::span(ghosts), vectors.n_vectors);
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      const auto u = static_cast<std::size_t>(i);
      std::fill(sums.begin(), sums.end(), 0.0);
      add_row<T>(A.on(), i, before, sums);
      add_row<T>(A.off(), i, ghosts, sums);
      const auto d = static_cast<double>(diagonal[u]);
      const double factor = d == 0 ? 0.0 : damping / d;
      for (std::size_t v = 0; v < k; ++v) {
        vectors.row(u)[v] = before[u * k + v] - static_cast<T>(factor * sums[v]);
      }
    }
  }
  return vectors;
}

template <class T>
NearNullSpace<T> improved(const matrix::DistMatrix<T>& A, NearNullSpace<T> vectors, int sweeps,
                          const relax::Relaxation<T>& relaxation) {
  if (vectors.n_vectors == 0 || sweeps <= 0) return vectors;
  const std::vector<T> zero = mpi::collectively(A.comm(), [&] {
    require_rows(A, vectors);
    relaxation.reserve_workspace(vectors.n_vectors);
    return std::vector<T>(vectors.values.size());
  });
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    relaxation.sweep_block(relax::Sweep::symmetric, zero, vectors.values, vectors.n_vectors);
  }
  return vectors;
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template NearNullSpace<T> constant_vectors(const Layout&, int);                                  \
  template NearNullSpace<T> rigid_body_modes(const Layout&, int, std::span<const double>);         \
  template NearNullSpace<T> improved(const matrix::DistMatrix<T>&, NearNullSpace<T>, int, double); \
  template NearNullSpace<T> improved(const matrix::DistMatrix<T>&, NearNullSpace<T>, int,          \
                                     const relax::Relaxation<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
