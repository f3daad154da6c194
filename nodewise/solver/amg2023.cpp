#include "nodewise/solver/amg2023.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "nodewise/io/problems/laplace.hpp"

namespace nodewise::solver {

namespace {

/// That of the points of a rank: a direction without neighbours leaves the diagonal less to hold.
double diagonal_of_7(const std::array<int, 3>& points) {
  const auto flat = std::count(points.begin(), points.end(), 1);
  return flat == 0 ? 6 : flat == 1 ? 4 : 2;
}

void require_counts(const char* what, const std::array<int, 3>& counts) {
  if (std::all_of(counts.begin(), counts.end(), [](int count) { return count > 0; })) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("AMG2023: {} are {}, each needs >= 1", what, fmt::join(counts, " x ")));
}

/// Points of all ranks in a direction.
int all_points(int points, int processors) {
  const std::int64_t all = std::int64_t{points} * processors;
  if (std::in_range<int>(all)) return static_cast<int>(all);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("AMG2023: {} points of {} ranks in one direction are more than {}",
                          points, processors, std::numeric_limits<int>::max()));
}

}  // namespace

io::GalleryOptions amg2023_matrix(const Amg2023Problem& problem) {
  if (problem.number != 1 && problem.number != 2) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("AMG2023 has problems 1 and 2, and no problem {}", problem.number));
  }
  require_counts("the points of a rank", problem.points);
  require_counts("the ranks in each direction", problem.processors);
  io::GalleryOptions options;
  options.problem = problem.number == 1 ? "laplace27" : "laplace7";
  auto& own = options.problem.options<io::problems::LaplaceOptions>();
  own.coefficients = problem.number == 1 ? std::vector<double>{26, -4, -0.15, -0.0125}
                                         : std::vector<double>{diagonal_of_7(problem.points), -1};
  own.processors.assign(problem.processors.begin(), problem.processors.end());
  options.n = all_points(problem.points[0], problem.processors[0]);
  options.n_y = all_points(problem.points[1], problem.processors[1]);
  options.n_z = all_points(problem.points[2], problem.processors[2]);
  return options;
}

void set_amg2023_solve(const Amg2023Problem& problem, Options& options) {
  if (!options.has("preset")) {
    options.set("preset", "default");
    const bool is_classical = options.amg.method == "classical";
    if (problem.number == 2 && is_classical && !options.has("aggressive_levels")) {
      options.set("aggressive_levels", "1");
    }
  }
  options.set("solver", problem.number == 1 ? "gmres" : "cg");
  if (problem.number == 1) options.set("restart", "100");
  options.set("tolerance", problem.number == 1 ? "1e-12" : "1e-8");
  options.set("max_iterations", "100");
}

double Amg2023Record::nonzeros_AP() const {
  double sum = 0;
  for (const amg::LevelInfo& level : levels) {
    sum += static_cast<double>(level.nonzeros) + static_cast<double>(level.interpolation_nonzeros);
  }
  return sum;
}

double Amg2023Record::merit() const {
  if (!converged) return std::numeric_limits<double>::quiet_NaN();
  return nonzeros_AP() / (setup_s + solves() * solve_s);
}

Amg2023Record amg2023_record(const Amg2023Problem& problem, const SolveRecord& solve) {
  return {.problem = problem,
          .method = solve.method.name(),
          .iterations = solve.iterations(),
          .converged = solve.converged(),
          .relative_residual = solve.report().true_relative_residual,
          .levels = solve.levels,
          .setup_s = solve.times.setup,
          .solve_s = solve.times.solve};
}

}  // namespace nodewise::solver
