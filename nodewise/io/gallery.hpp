// Model problems, generated in place by rows.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/base/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// Unknowns are the interior points of a grid with zero Dirichlet boundary (three a point of the
/// beam, which is free but for its clamped end); the couplings are not scaled with the mesh width.
/// Points are numbered with the last axis running fastest.
enum class Problem {
  laplace5,      ///< 2-D Poisson, 5 points, n x n points: 4, -1
  laplace7,      ///< 3-D Poisson, 7 points, n^3 points: 6, -1
  laplace9,      ///< 2-D Poisson, 9 points: 8, -1
  laplace27,     ///< 3-D Poisson, 27 points: 26, -1
  rotated_fe,    ///< -div(K grad u), 2-D, bilinear (Q1) finite elements on squares, n x n points
  rotated_fd,    ///< the same, finite differences: 9 points, the mixed derivative central
  random,        ///< n rows of `entries` hashed columns and a dominant diagonal, not symmetric
  convection2d,  ///< -diffusion Laplace(u) + v . grad u, upwind, n x n points
  convection3d,  ///< the same, n^3 points
  beam           ///< linear elasticity, linear tetrahedra: a cantilever of 8 n x n x n cubes
};

/// The velocity v of the convection problems on the unit square, in the axes (slow, fast). In space
/// these are the two slower ones, and along the fastest v is 1.
enum class Flow {
  constant,      ///< (cos(angle), sin(angle))
  rotating,      ///< (-y, x): in arcs around a corner, in at one side and out at another
  recirculating  ///< 2 (Y (1 - X^2), -X (1 - Y^2)), X = 2 x - 1, Y = 2 y - 1: closed lines
};

/// The tensor of the rotated problems is K = Q diag(1, epsilon) Q^T with
/// Q = [cos(angle) -sin(angle); sin(angle) cos(angle)] in the axes (slow, fast): with angle 0 the
/// strong direction couples points n apart. The stencils are those of PyAMG's
/// diffusion_stencil_2d(epsilon, angle, type) put on a grid by its stencil_grid.
///
/// The convection problems depend on the mesh width h = 1 / (n + 1). Their equations are multiplied
/// by h: the couplings along an axis d are -(diffusion / h + max(v_d, 0)) to the point before, and
/// -(diffusion / h + max(-v_d, 0)) to the point behind. Without diffusion what is downwind has no
/// coupling.
///
/// The beam is the problem of MFEM's example 2: 8 x 1 x 1, of two materials, lambda = mu = 50 in
/// the half that begins at the clamped end and 1 in the other. Its 8 n (n + 1)^2 points that are
/// not clamped have the displacements along the three axes as their successive rows; a cube is cut
/// into six tetrahedra (Beam, io/beam.hpp). Symmetric positive definite, all entries whole numbers:
/// 6 n times those of the integrals.
struct GalleryOptions {
  Problem problem = Problem::laplace27;
  int n = 32;  ///< points in each direction; rows for `random`; cubes across the beam
  double angle = 0.39269908169872414;  ///< radians (default pi / 8) from slow axis to strong
                                       ///< direction, or flow
  double epsilon = 0.001;              ///< diffusion in the weak direction
  double diffusion = 0.001;            ///< of the convection problems, whose velocity is about one
  Flow flow = Flow::constant;
  int entries = 8;  ///< off-diagonal entries a row of `random`
  int seed = 0;
};

std::span<const Field<GalleryOptions>> gallery_fields();

/// Local. The rows that a point has: 3 for the beam, 1 for all others.
int unknowns_of(Problem problem);

/// Local. Returns the coordinates of this rank's points, three each. Empty but for the beam, whose
/// near null space is the rigid body modes of its points. The rows are those of generate(), whole
/// points on every rank.
std::vector<double> point_coordinates(const comm::Layout& rows, const GalleryOptions& options);

/// Collective. The model problem, its rows in uniform ranges (comm::uniform_points): the same
/// matrix on any number of ranks. Each rank makes its own rows; the messages are those of a new
/// matrix, after an agreement. `random`: values in (-1, 1), the diagonal 1 + the sum of their
/// magnitudes. Throws the same Error on every rank: invalid_argument for an option outside its
/// range, or options that differ between ranks, index_overflow for more rows than the indices can
/// count.
template <class T>
matrix::DistMatrix<T> generate(std::shared_ptr<const mpi::Comm> comm,
                               const GalleryOptions& options);

}  // namespace nodewise::io
