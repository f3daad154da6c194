// The benchmark AMG2023 (LLNL, github.com/LLNL/AMG2023): its problems, how they are to be solved,
// and its figure of merit.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "nodewise/amg/setup/level_info.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::solver {

/// Problem 1: 27 points, coefficients 26, -4, -0.15, -0.0125; GMRES(100) down to 1e-12.
/// Problem 2: 7 points, coefficients 6 (4 or 2 where ranks have one point in some directions) and
/// -1; conjugate gradients down to 1e-8, one level of aggressive coarsening.
struct Amg2023Problem {
  int number = 1;
  std::array<int, 3> points = {10, 10, 10};   ///< of each rank, in each direction
  std::array<int, 3> processors = {1, 1, 1};  ///< ranks in each direction
};

/// Local. The matrix, of all ranks together. Throws invalid_argument where the problem has another
/// number, no points or no ranks in a direction, or more than 2^31 - 1 points in one.
io::GalleryOptions amg2023_matrix(const Amg2023Problem& problem);

/// Local. How it is solved, in place of what the options say: Krylov method, tolerance, at most 100
/// iterations. Preset and aggressive levels only where they were not given.
void set_amg2023_solve(const Amg2023Problem& problem, Options& options);

/// What a run came to. Right-hand side: ones. Start: zero.
struct Amg2023Record {
  Amg2023Problem problem;
  std::string method;
  int iterations = 0;
  bool converged = false;
  double relative_residual = 0;  ///< |b - A x| / |b|
  std::vector<amg::LevelInfo> levels;
  double setup_s = 0, solve_s = 0;

  double nonzeros() const { return static_cast<double>(levels.front().nonzeros); }
  /// nnz_AP: entries of the matrices and of the interpolations of all levels.
  double nonzeros_AP() const;
  double setup_merit() const { return nonzeros_AP() / setup_s; }
  double solve_merit() const { return nonzeros_AP() / solve_s; }
  /// How often the solve counts: once in problem 1, three times in problem 2.
  int solves() const { return problem.number == 1 ? 1 : 3; }
  /// The figure of merit. NaN where the solve did not converge.
  double merit() const;
};

/// Local. Of a solve that was set so.
Amg2023Record amg2023_record(const Amg2023Problem& problem, const SolveRecord& solve);

}  // namespace nodewise::solver
