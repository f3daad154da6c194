// LOBPCG with a multigrid cycle beside hypre's: iterations on the same matrix, with hierarchies by
// the same choices, to the same residuals.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/eigen/eigenpairs.hpp"
#include "nodewise/eigen/lobpcg.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "peer_hypre.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems = {"laplace7:20", "laplace7:40"};
  std::vector<int> pairs = {1, 4, 10};
  double tolerance = 1e-8;
  int max_iterations = 200;
  int seeds = 3;
};

struct EigenRun {
  int iterations = 0;
  bool converged = false;
  std::vector<double> values;
  double norm = 0;
};

EigenRun run_nodewise(const solve::MatrixOperator<double>& A, const amg::Hierarchy<double>& M,
                      int pairs, int block, int seed, const Arguments& arguments) {
  eigen::Options options;
  options.eigensolver = "lobpcg";
  options.eigensolver.options<eigen::LobpcgOptions>().block_size = block;
  options.pairs = pairs;
  options.start_seed = seed;
  options.tolerance = arguments.tolerance;
  options.max_iterations = arguments.max_iterations;
  const eigen::Report report = eigen::find_eigenpairs({A, nullptr, &M}, options).report;
  EigenRun run = {report.iterations, report.converged(), {}, report.norm};
  for (const eigen::Eigenpair& pair : report.pairs) run.values.push_back(pair.value);
  return run;
}

/// The lowest and highest of some counts: "12" or "12 to 14".
std::string range_of(const std::vector<int>& counts) {
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
  return *low == *high ? fmt::format("{}", *low) : fmt::format("{} to {}", *low, *high);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t c = 0; c < a.size(); ++c) largest = std::max(largest, std::abs(a[c] - b[c]));
  return largest;
}

void compare(const std::shared_ptr<const mpi::Comm>& comm, const std::string& name,
             const Arguments& arguments) {
  const auto A = make_matrix(comm, parse_problem(name));
  amg::Options options;
  options.set("strength_measure", "opposite_sign");  // as hypre
  options.set("smoother", "l1_gauss_seidel").set("sweep_order", "forward_backward");
  amg::ProblemInfo<double> known;
  known.symmetric = true;  // as hypre takes for granted
  const amg::Hierarchy<double> M(A, options, known);
  const solve::MatrixOperator<double> map(A);
  HypreSystem hypre(*A, std::vector<double>(static_cast<std::size_t>(A->n_local()), 1.0));
  hypre.setup(options);
  for (const int pairs : arguments.pairs) {
    std::vector<int> ours, guarded, theirs;
    double apart = 0;
    for (int seed = 1; seed <= arguments.seeds; ++seed) {
      const EigenRun plain = run_nodewise(map, M, pairs, pairs, seed, arguments);
      const EigenRun more = run_nodewise(map, M, pairs, 0, seed, arguments);
      const auto peer = hypre.lowest_eigenvalues(pairs, arguments.tolerance * plain.norm,
                                                 arguments.max_iterations, seed);
      ours.push_back(plain.iterations);
      guarded.push_back(more.iterations);
      theirs.push_back(peer.iterations);
      apart = std::max({apart, largest_difference(plain.values, peer.values),
                        largest_difference(more.values, peer.values)});
    }
    if (comm->is_root()) {
      std::cout << fmt::format("{:<14}{:>6}{:>16}{:>16}{:>16}{:>16.1e}\n", name, pairs,
                               range_of(ours), range_of(guarded), range_of(theirs), apart);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Iterations of LOBPCG beside hypre's");
  app.add_option("--problems", arguments.problems, "such as laplace7:40");
  app.add_option("--pairs", arguments.pairs, "numbers of eigenpairs");
  app.add_option("--tolerance", arguments.tolerance, "of residuals, relative to the norm");
  app.add_option("--max-iterations", arguments.max_iterations, "the most");
  app.add_option("--seeds", arguments.seeds, "starts by so many random blocks");
  return run_program(app, argc, argv, [&] {
    const auto comm = make_comm(0);
    const HypreLibrary library;
    if (comm->is_root()) {
      std::cout << fmt::format("hypre {}\n{:<14}{:>6}{:>16}{:>16}{:>16}{:>16}\n",
                               HypreLibrary::version(), "problem", "pairs", "block = pairs",
                               "with guards", "hypre", "values apart");
    }
    for (const std::string& name : arguments.problems) compare(comm, name, arguments);
  });
}
