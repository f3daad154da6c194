// The systems that are solved: a model problem by name and a right-hand side.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::bench {

using Matrix = matrix::DistMatrix<double>;

struct Problem {
  std::string name;  ///< as in the gallery
  int n = 0;         ///< points in each direction
};

/// Local. Reads "name:n", such as "laplace27:100"; throws invalid_argument.
Problem parse_problem(const std::string& text);

/// Collective. All ranks of the program, on their real nodes, or with 0 < ranks_per_node
/// consecutive ranks on each: to see counts on one machine.
std::shared_ptr<const mpi::Comm> make_comm(int ranks_per_node,
                                           const mpi::CommSettings& settings = {});

/// Collective. The matrix; rotated_fe with the gallery's defaults (angle pi/8, epsilon 0.001).
std::shared_ptr<const Matrix> make_matrix(const std::shared_ptr<const mpi::Comm>& comm,
                                          const Problem& problem);

/// Collective. A square matrix, its rows and columns dealt out to the ranks in turns, as a
/// partition that knows nothing of the matrix would: row i goes to rank i mod P.
std::shared_ptr<const Matrix> dealt_out(const Matrix& A);

/// Local. Normally distributed numbers that do not depend on the number of ranks.
std::vector<double> make_rhs(const comm::Layout& layout);

/// Collective. |b - A x| / |b| in the 2-norm, computed from nothing but A, b and x.
double true_relative_residual(const Matrix& A, std::span<const double> b,
                              std::span<const double> x);

}  // namespace nodewise::bench
