// Nodewise beside hypre: the same matrix, right-hand side, choices and tolerance, in one process.
#include <cstdlib>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "measure.hpp"
#include "name_and_value.hpp"
#include "peer_hypre.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems = {"laplace27:100", "rotated_fe:1000"};
  std::vector<std::string> smoothers = {"l1", "symmetric"};
  std::vector<std::string> amg;  ///< name=value
  double tolerance = 1e-8;
  int max_iterations = 500;
  int repeats = 5;
  std::string only;
};

/// What one setup and solve gave.
struct Run {
  double setup_s = 0;
  double solve_s = 0;
  int iterations = 0;
  double residual = 0;  ///< true, relative, by our product
};

/// All runs of one of the two.
struct Series {
  std::vector<double> setup_s, solve_s, total_s;
  int iterations = 0;
  double residual = 0;  ///< the largest
  int levels = 0;
  double grid_complexity = 0;
  double operator_complexity = 0;

  void add(const Run& run) {
    setup_s.push_back(run.setup_s);
    solve_s.push_back(run.solve_s);
    total_s.push_back(run.setup_s + run.solve_s);
    iterations = run.iterations;
    residual = std::max(residual, run.residual);
  }
};

amg::Options options_for(const std::string& smoother, const Arguments& arguments) {
  amg::Options options;
  options.set("strength_measure", "opposite_sign");  // as hypre
  if (smoother == "l1") {
    options.set("smoother", "l1_gauss_seidel").set("sweep_order", "forward_backward");
  } else if (smoother == "symmetric") {
    options.set("smoother", "gauss_seidel").set("sweep_order", "symmetric");
  } else {
    throw Error(ErrorCode::invalid_argument, "smoother: l1 or symmetric, not '" + smoother + "'");
  }
  set_from_words(options, arguments.amg);
  return options;
}

std::string describe(const std::string& smoother) {
  return smoother == "l1" ? "l1 hybrid Gauss-Seidel, forward down, backward up"
                          : "hybrid symmetric Gauss-Seidel";
}

/// Everything one comparison needs; both solve from a zero guess each time.
struct Contest {
  std::shared_ptr<const Matrix> A;
  std::vector<double> b;
  amg::Options options;
  double tolerance;
  double peer_tolerance;  ///< what hypre is asked for so that the true residual meets `tolerance`
  int max_iterations;
};

/// What hypre takes for granted.
amg::ProblemInfo<double> symmetric() {
  amg::ProblemInfo<double> knowledge;
  knowledge.symmetric = true;
  return knowledge;
}

Run run_nodewise(const Contest& contest, Series& series) {
  const mpi::Comm& comm = contest.A->comm();
  Run run;
  std::unique_ptr<amg::Hierarchy<double>> hierarchy;
  run.setup_s = timed(comm, [&] {
    hierarchy = std::make_unique<amg::Hierarchy<double>>(contest.A, contest.options, symmetric());
  });
  std::vector<double> x(contest.b.size(), 0.0);
  const solve::MatrixOperator<double> A(contest.A);
  solve::Options options;
  options.tolerance = contest.tolerance;
  options.max_iterations = contest.max_iterations;
  solve::Report report;
  run.solve_s =
      timed(comm, [&] { report = solve::cg<double>(A, hierarchy.get(), contest.b, x, options); });
  run.iterations = report.iterations;
  run.residual = true_relative_residual(*contest.A, contest.b, x);
  series.levels = static_cast<int>(hierarchy->levels().size());
  series.grid_complexity = hierarchy->grid_complexity();
  series.operator_complexity = hierarchy->operator_complexity();
  return run;
}

Run run_hypre(const Contest& contest, HypreSystem& system, Series& series) {
  const mpi::Comm& comm = contest.A->comm();
  Run run;
  system.clear();
  run.setup_s = timed(comm, [&] { system.setup(contest.options); });
  run.solve_s = timed(
      comm, [&] { run.iterations = system.solve(contest.peer_tolerance, contest.max_iterations); });
  std::vector<double> x(contest.b.size());
  system.solution(x);
  run.residual = true_relative_residual(*contest.A, contest.b, x);
  const HypreSystem::Hierarchy hierarchy = system.hierarchy();
  series.levels = hierarchy.levels;
  series.grid_complexity = hierarchy.grid_complexity;
  series.operator_complexity = hierarchy.operator_complexity;
  system.clear();
  return run;
}

/// The warm-up: hypre tests the residual of its recurrence, which may be smaller than the true
/// one; it is asked for less until the true one is small enough.
void calibrate(Contest& contest, HypreSystem& system) {
  Series ignored;
  run_nodewise(contest, ignored);
  for (int attempt = 0; attempt < 5; ++attempt) {
    const Run run = run_hypre(contest, system, ignored);
    if (run.residual <= contest.tolerance) return;
    contest.peer_tolerance *= 0.9 * contest.tolerance / run.residual;
  }
}

std::string row(const std::string& quantity, const std::vector<double>& ours,
                const std::vector<double>& theirs) {
  return fmt::format("| {} | {} | {} | {} |\n", quantity, seconds_text(spread(ours)),
                     seconds_text(spread(theirs)), to_text(spread(ratios(ours, theirs)), 2));
}

void print(const std::string& title, const Series& ours, const Series& theirs,
           const std::string& load) {
  std::string text = fmt::format("#### {}\n\n| | Nodewise | hypre | Nodewise / hypre |\n", title);
  text += "|---|---|---|---|\n";
  text += row("setup, s", ours.setup_s, theirs.setup_s);
  text += row("solve, s", ours.solve_s, theirs.solve_s);
  text += row("total, s", ours.total_s, theirs.total_s);
  text += fmt::format("| iterations | {} | {} | {:+d} |\n", ours.iterations, theirs.iterations,
                      ours.iterations - theirs.iterations);
  text += fmt::format("| true relative residual | {:.2e} | {:.2e} | |\n", ours.residual,
                      theirs.residual);
  text += fmt::format("| operator complexity | {:.3f} | {:.3f} | |\n", ours.operator_complexity,
                      theirs.operator_complexity);
  text += fmt::format("| grid complexity | {:.3f} | {:.3f} | |\n", ours.grid_complexity,
                      theirs.grid_complexity);
  text += fmt::format("| levels | {} | {} | |\n\n", ours.levels, theirs.levels);
  text += fmt::format("Load averages before: {}; after: {}.\n\n", load, load_averages());
  std::cout << text << std::flush;
}

void compare(const std::shared_ptr<const mpi::Comm>& comm, const Problem& problem,
             const Arguments& arguments) {
  const std::shared_ptr<const Matrix> A = make_matrix(comm, problem);
  const std::vector<double> b = make_rhs(A->rows());
  HypreSystem system(*A, b);
  for (const std::string& smoother : arguments.smoothers) {
    const std::string load = load_averages();
    Contest contest{A,
                    b,
                    options_for(smoother, arguments),
                    arguments.tolerance,
                    arguments.tolerance,
                    arguments.max_iterations};
    calibrate(contest, system);
    Series ours, theirs;
    for (int k = 0; k < arguments.repeats; ++k) {  // in turn, and in turn first
      if (k % 2 == 0) ours.add(run_nodewise(contest, ours));
      theirs.add(run_hypre(contest, system, theirs));
      if (k % 2 == 1) ours.add(run_nodewise(contest, ours));
    }
    if (comm->is_root()) {
      print(fmt::format("{}, n = {}, {} rank{}: {}", problem.name, problem.n, comm->size(),
                        comm->size() == 1 ? "" : "s", describe(smoother)),
            ours, theirs, load);
    }
  }
}

/// One line for the memory table: the peak while setting up and solving, the matrix and the vectors
/// included, the making of the matrix left out, summed over the ranks.
void measure_memory(const std::shared_ptr<const mpi::Comm>& comm, const Problem& problem,
                    const Arguments& arguments) {
  const amg::Options options = options_for(arguments.smoothers.front(), arguments);
  std::shared_ptr<const Matrix> A = make_matrix(comm, problem);
  const std::vector<double> b = make_rhs(A->rows());
  std::unique_ptr<HypreSystem> system;
  if (arguments.only == "hypre") {
    system = std::make_unique<HypreSystem>(*A, b);
    A.reset();  // hypre has its own copy by now
  }
  const auto megabytes = [&](std::int64_t bytes) {
    return static_cast<double>(mpi::sum(*comm, bytes)) / 1e6;
  };
  const bool reset = reset_peak_memory();
  const double before = megabytes(resident_memory_bytes());
  double residual = 0;
  if (system) {
    system->setup(options);
    system->solve(arguments.tolerance, arguments.max_iterations);
    residual = system->relative_residual();
  } else {
    const amg::Hierarchy<double> hierarchy(A, options, symmetric());
    std::vector<double> x(b.size(), 0.0);
    solve::Options solve_options;
    solve_options.tolerance = arguments.tolerance;
    residual = solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, solve_options)
                   .true_relative_residual;
  }
  const double peak = megabytes(peak_memory_bytes());
  if (!comm->is_root()) return;
  std::cout << fmt::format("{} {} {} {} {:.1f} {:.1f} {:.2e} {}\n", problem.name, problem.n,
                           comm->size(), arguments.only, before, peak, residual,
                           reset ? "setup-and-solve" : "whole-process")
            << std::flush;
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = mpi::Comm::create(MPI_COMM_WORLD);
  const HypreLibrary library;
  for (const std::string& text : arguments.problems) {
    const Problem problem = parse_problem(text);
    if (arguments.only.empty()) {
      compare(comm, problem, arguments);
    } else {
      measure_memory(comm, problem, arguments);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare Nodewise with hypre; prints Markdown.");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--smoother", arguments.smoothers, "l1, symmetric or both");
  app.add_option("--amg", arguments.amg, "name=value, an option of both hierarchies");
  app.add_option("--tolerance", arguments.tolerance, "on the true relative residual");
  app.add_option("--repeats", arguments.repeats, "pairs of runs")->check(CLI::PositiveNumber);
  app.add_option("--only", arguments.only, "solve once with one of them and print its memory")
      ->check(CLI::IsMember({"nodewise", "hypre"}));
  return run_program(app, argc, argv, [&] { run(arguments); });
}
