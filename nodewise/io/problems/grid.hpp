// What model problems on regular grids share.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "nodewise/comm/points.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/assemble.hpp"

namespace nodewise::io::problems {

/// Throws invalid_argument, beginning with "problem: ".
[[noreturn]] void refuse_problem(const std::string& text);

/// Of the field `seed`, which several problems have.
inline constexpr const char* seed_meaning =
    "Seed of random matrices and graphs, and of unstructured meshes";

/// Of a problem without options of its own.
inline void check_nothing(const GalleryOptions& /*options*/) {}

/// Returns n^dimensions. Throws index_overflow where it does not fit.
GlobalIndex n_points(GlobalIndex n, int dimensions);

/// The size of a problem with n^dimensions rows of so many entries.
template <int dimensions, int entries>
MatrixSize grid_size(const GalleryOptions& options) {
  double rows = 1;
  for (int d = 0; d < dimensions; ++d) rows *= options.n;
  return {rows, entries * rows};
}

/// Collective. The matrix of n rows, `unknowns` successive ones a point; rows(i, emit) emits the
/// entries of row i.
template <class T, class Rows>
matrix::DistMatrix<T> make_problem(const std::shared_ptr<const mpi::Comm>& comm, GlobalIndex n,
                                   Rows&& rows, int unknowns = 1) {
  const comm::Layout layout = comm::uniform_points(comm, n, unknowns);
  return matrix::matrix_from_rows<T>(layout, layout, rows);
}

/// stencil[1 + a][1 + b] couples a point to the one `a` steps further along the slow axis of the
/// numbering and `b` along the fast one.
using Stencil2 = std::array<std::array<double, 3>, 3>;

/// Collective. The matrix of a 3 x 3 stencil on the n x n interior points, zeros left out.
template <class T>
matrix::DistMatrix<T> make_stencil_problem(const std::shared_ptr<const mpi::Comm>& comm,
                                           GlobalIndex n, const Stencil2& stencil);

}  // namespace nodewise::io::problems
