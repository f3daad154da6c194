// The threads of one rank beside as many ranks, in turns in one run.
#include <chrono>
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems = {"laplace27:100", "rotated_fe:1000"};
  int repeats = 5;
};

struct Variant {
  std::string name;
  std::vector<std::string> amg;  ///< name=value
};

std::vector<Variant> variants() {
  return {{"classical", {"precision=same"}},
          {"classical, aggressive, single precision",
           {"precision=single", "aggressive_levels=1", "aggressive_paths=2"}},
          {"classical, PMIS", {"precision=same", "coarsening=pmis"}},
          {"aggregation, single precision",
           {"precision=single", "method=aggregation", "aggregates=standard"}}};
}

/// Where a system is solved: on all ranks, or by threads of the first.
class Place {
 public:
  /// Collective over all ranks of the program.
  Place(int n_ranks, int n_threads) : n_threads_(n_threads) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < n_ranks ? 0 : MPI_UNDEFINED, rank, &some);
    if (some == MPI_COMM_NULL) return;
    comm_ = mpi::Comm::create(some);
    MPI_Comm_free(&some);
  }

  void make(const Problem& problem) {
    if (comm_) A_ = make_matrix(comm_, problem);
  }
  /// One setup and solve; the ranks that have no part in it sleep until it is over.
  void run(const amg::Options& options) {
    if (comm_) solve(options);
    MPI_Request over = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &over);
    for (int is_over = 0; is_over == 0;) {
      MPI_Test(&over, &is_over, MPI_STATUS_IGNORE);
      if (is_over == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void clear() {
    setup_s.clear();
    solve_s.clear();
    total_s.clear();
  }

  std::vector<double> setup_s, solve_s, total_s;
  int iterations = 0;

 private:
  void solve(const amg::Options& options) {
    parallel::set_threads(n_threads_);
    std::unique_ptr<amg::Hierarchy<double>> hierarchy;
    amg::ProblemInfo<double> knowledge;
    knowledge.symmetric = true;
    setup_s.push_back(timed(*comm_, [&] {
      hierarchy = std::make_unique<amg::Hierarchy<double>>(A_, options, knowledge);
    }));
    const std::vector<double> b = make_rhs(A_->rows());
    std::vector<double> x(b.size(), 0.0);
    solve_s.push_back(timed(*comm_, [&] {
      const solve::MatrixOperator<double> A(A_);
      iterations = solve::cg<double>(A, hierarchy.get(), b, x, {}).iterations;
    }));
    total_s.push_back(setup_s.back() + solve_s.back());
  }

  int n_threads_;
  std::shared_ptr<const mpi::Comm> comm_;
  std::shared_ptr<const Matrix> A_;
};

void print(const std::string& name, const std::vector<Place>& places) {
  const Place& ranks = places[1];
  const Place& threads = places[2];
  std::string text = "| " + name;
  for (const Place& place : places) {
    text += fmt::format(" | {} + {}", seconds_text(spread(place.setup_s)),
                        seconds_text(spread(place.solve_s)));
  }
  text += fmt::format(" | {} | {} | {} | {}, {} |\n",
                      to_text(spread(ratios(threads.setup_s, ranks.setup_s)), 2),
                      to_text(spread(ratios(threads.solve_s, ranks.solve_s)), 2),
                      to_text(spread(ratios(threads.total_s, ranks.total_s)), 2), ranks.iterations,
                      threads.iterations);
  std::cout << text << std::flush;
}

void run(const Arguments& arguments) {
  int rank = 0;
  int n = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  std::vector<Place> places;
  places.emplace_back(1, 1);
  places.emplace_back(n, 1);
  places.emplace_back(1, n);
  for (const std::string& text : arguments.problems) {
    const Problem problem = parse_problem(text);
    const std::string load = load_averages();
    for (Place& place : places) place.make(problem);
    if (rank == 0) {
      std::cout << fmt::format(
          "#### {}, n = {}\n\n| hierarchy | 1 rank x 1 thread, setup + solve, s | {} x 1 | 1 x {} "
          "| "
          "1 x {} / {} x 1: setup | solve | both | iterations "
          "|\n|---|---|---|---|---|---|---|---|\n",
          problem.name, problem.n, n, n, n, n);
    }
    for (const Variant& variant : variants()) {
      amg::Options options;
      for (const std::string& pair : variant.amg) {
        const std::size_t equal = pair.find('=');
        set_option(options, amg::option_fields(), pair.substr(0, equal), pair.substr(equal + 1));
      }
      for (Place& place : places) {
        place.run(options);  // to warm up
        place.clear();
      }
      for (int k = 0; k < arguments.repeats; ++k) {
        for (std::size_t p = 0; p < places.size(); ++p) {
          places[(p + static_cast<std::size_t>(k)) % places.size()].run(options);
        }
      }
      if (rank == 0) print(variant.name, places);
    }
    if (rank == 0) {
      std::cout << fmt::format("\nLoad averages before: {}; after: {}.\n\n", load, load_averages())
                << std::flush;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare threads of one rank with as many ranks; prints Markdown.");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--repeats", arguments.repeats, "runs of each")->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
