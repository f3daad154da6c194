// Model problems, generated in place by rows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

enum class Problem {
  laplace5,    ///< 2-D Poisson, 5 points, n x n interior points, Dirichlet: 4, -1
  laplace7,    ///< 3-D Poisson, 7 points, n^3: 6, -1
  laplace9,    ///< 2-D Poisson, 9 points: 8, -1
  laplace27,   ///< 3-D Poisson, 27 points: 26, -1
  rotated_fe,  ///< rotated anisotropic diffusion, Q1 finite elements, 2-D, n x n
  rotated_fd,  ///< the same, finite differences (7-point, cross derivative central)
  random       ///< n rows, `entries` entries a row in hashed columns and a dominant diagonal
};

struct GalleryOptions {
  Problem problem = Problem::laplace27;
  int n = 32;  ///< points in each direction; rows for `random`
  double angle =
      0.39269908169872414;  ///< radians (default pi / 8) between x axis and strong direction
  double epsilon = 0.001;   ///< diffusion in the weak direction
  int entries = 8;          ///< off-diagonal entries a row of `random`
  int seed = 0;
};

std::span<const Field<GalleryOptions>> gallery_fields();

/// Collective. The model problem, its rows in uniform ranges (Layout::uniform).
template <class T>
matrix::DistMatrix<T> generate(std::shared_ptr<const mpi::Comm> comm,
                               const GalleryOptions& options);

}  // namespace nodewise::io
