// The vectors that a matrix nearly maps to zero: what an aggregation's coarse grids must represent.
#pragma once

#include <span>
#include <vector>

#include "nodewise/comm/layout.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::relax {
template <class T>
class Relaxation;
}

namespace nodewise::amg {

/// This rank's part of some vectors v with A v about 0, which the coarse grids are to represent.
template <class T>
struct NearNullSpace {
  int n_vectors = 0;      ///< 0: none are known
  std::vector<T> values;  ///< entry (i, k) of vector k at local row i: values[i * n_vectors + k]

  std::span<const T> row(std::size_t i) const { return std::span(values).subspan(i * k(), k()); }
  std::span<T> row(std::size_t i) { return std::span(values).subspan(i * k(), k()); }

 private:
  std::size_t k() const { return static_cast<std::size_t>(n_vectors); }
};

using comm::points_of;
using comm::require_whole_points;

/// Local. The vectors that are constant in one unknown and zero in the others, one for each.
template <class T>
NearNullSpace<T> constant_vectors(const comm::Layout& rows, int unknowns);

/// Collective. The rigid body modes of linear elasticity: `dimensions` displacements at every
/// point, and the coordinates of this rank's points (points x dimensions, row-major). First the
/// translations, then the rotation of the plane (2 dimensions), or about x, y and z (3), about the
/// mean of all points, so that the vectors are far from dependent wherever the body is. Throws on
/// every rank invalid_argument where there are neither 2 nor 3 dimensions or a coordinate is not
/// finite, dimension_mismatch where their number is wrong, and what require_whole_points() throws.
/// One allreduce.
template <class T>
NearNullSpace<T> rigid_body_modes(const comm::Layout& rows, int dimensions,
                                  std::span<const double> coordinates);

/// Collective. The vectors after `sweeps` sweeps of damped Jacobi relaxation on A x = 0, beginning
/// with them: what A's rows demand (clamped unknowns, jumps of coefficients) is then seen in the
/// coarse grids. The damping is 4/3 over the spectral radius of D^-1 A, of which an estimate is
/// given. A sweep costs one exchange of A with as many values an entry as there are vectors. Does
/// not depend on the number of ranks. Throws dimension_mismatch on every rank where the vectors do
/// not have A's rows.
template <class T>
NearNullSpace<T> improved(const matrix::DistMatrix<T>& A, NearNullSpace<T> vectors, int sweeps,
                          double spectral_radius);
/// Collective. The same by symmetric sweeps of a relaxation of A, whose messages these are.
template <class T>
NearNullSpace<T> improved(const matrix::DistMatrix<T>& A, NearNullSpace<T> vectors, int sweeps,
                          const relax::Relaxation<T>& relaxation);

}  // namespace nodewise::amg
