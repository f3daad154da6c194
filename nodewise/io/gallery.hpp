// Model problems, generated in place by rows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/io/model_problem.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// Unknowns are the interior points of a grid with zero Dirichlet boundary, unless the problem's
/// own file says otherwise; the couplings are not scaled with the mesh width. Points are numbered
/// with the last axis running fastest.
struct GalleryOptions {
  Choice<ModelProblem> problem = "laplace27";  ///< with the options that are its own
  int n = 32;  ///< points or cells in each direction; rows for `random`, vertices of graphs; cubes
               ///< across the beam
  /// Of problems with sides (ModelProblemFacts::has_sides), where these differ: n is the number of
  /// points in the direction that runs fastest, then these. Both are 0 where they do not.
  int n_y = 0;
  int n_z = 0;
};

std::span<const Field<GalleryOptions>> gallery_fields();

/// Local. Throws invalid_argument for an option outside its range, or options that contradict each
/// other.
void check_problem(const GalleryOptions& options);

/// Local. "laplace7, n = 32".
std::string in_words(const GalleryOptions& options);

/// Local. Returns the coordinates of this rank's points, as many of each as it has unknowns. Empty
/// where the problem has no rigid body modes. The rows are those of generate(), whole points on
/// every rank.
std::vector<double> point_coordinates(const comm::Layout& rows, const GalleryOptions& options);

/// Local. Returns this rank's part of the right-hand side that belongs to the problem; the rows are
/// those of generate(). Throws invalid_argument where it has none.
std::vector<double> own_right_hand_side(const comm::Layout& rows, const GalleryOptions& options);

/// Collective. The model problem, its rows in uniform ranges (comm::uniform_points): the same
/// matrix on any number of ranks. Each rank makes its own rows (of a graph its part of the edges,
/// which costs a sparse exchange); the messages are those of a new matrix, after an agreement.
/// Throws the same Error on every rank: that of check_problem(), invalid_argument for options that
/// differ between ranks, index_overflow for more rows than the indices can count.
template <class T>
matrix::DistMatrix<T> generate(std::shared_ptr<const mpi::Comm> comm,
                               const GalleryOptions& options);

}  // namespace nodewise::io
