// Model problems, generated in place by rows.
#pragma once

#include <memory>
#include <span>

#include "nodewise/base/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// Unknowns are the interior points of a grid with zero Dirichlet boundary; the couplings are not
/// scaled with the mesh width. Points are numbered with the last axis running fastest.
enum class Problem {
  laplace5,      ///< 2-D Poisson, 5 points, n x n points: 4, -1
  laplace7,      ///< 3-D Poisson, 7 points, n^3 points: 6, -1
  laplace9,      ///< 2-D Poisson, 9 points: 8, -1
  laplace27,     ///< 3-D Poisson, 27 points: 26, -1
  rotated_fe,    ///< -div(K grad u), 2-D, bilinear (Q1) finite elements on squares, n x n points
  rotated_fd,    ///< the same, finite differences: 9 points, the mixed derivative central
  random,        ///< n rows of `entries` hashed columns and a dominant diagonal, not symmetric
  convection2d,  ///< -diffusion Laplace(u) + v . grad u, upwind, n x n points
  convection3d   ///< the same, n^3 points
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
struct GalleryOptions {
  Problem problem = Problem::laplace27;
  int n = 32;                          ///< points in each direction; rows for `random`
  double angle = 0.39269908169872414;  ///< radians (default pi / 8) from slow axis to strong
                                       ///< direction, or flow
  double epsilon = 0.001;              ///< diffusion in the weak direction
  double diffusion = 0.001;            ///< of the convection problems, whose velocity is about one
  Flow flow = Flow::constant;
  int entries = 8;  ///< off-diagonal entries a row of `random`
  int seed = 0;
};

std::span<const Field<GalleryOptions>> gallery_fields();

/// Collective. The model problem, its rows in uniform ranges (Layout::uniform): the same matrix on
/// any number of ranks. Each rank makes its own rows; the messages are those of a new matrix.
/// `random`: values in (-1, 1), the diagonal 1 + the sum of their magnitudes.
/// Throws the same Error on every rank: invalid_argument for an option outside its range,
/// index_overflow for more rows than the indices can count.
template <class T>
matrix::DistMatrix<T> generate(std::shared_ptr<const mpi::Comm> comm,
                               const GalleryOptions& options);

}  // namespace nodewise::io
