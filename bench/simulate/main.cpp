// Exchanges and solves timed by the simulated clock: random sparse exchanges, the levels of a
// hierarchy, whole solves. Writes lines of key=value for bench/simulate/run.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "problem.hpp"
#include "simulate/predicted_times.hpp"
#include "simulate/random_exchange.hpp"
#include "simulate/route_times.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  bool random = false;
  RandomExchange exchange;
  std::string levels;  ///< the problem whose hierarchy is exchanged; empty: none
  std::string solve;   ///< the problem that is solved; empty: none
  std::vector<std::string> choices = {"direct:0", "two_step:1", "three_step:1"};
  std::vector<std::string> amg;
  std::optional<std::string> platform;  ///< parameters of the simulated one
  std::string output = "/dev/stdout";
};

amg::Options amg_options(const Arguments& arguments) {
  amg::Options options;
  for (const std::string& text : arguments.amg) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorCode::invalid_argument, "expected name=value, found '" + text + "'");
    }
    set_option(options, amg::option_fields(), text.substr(0, equals), text.substr(equals + 1));
  }
  return options;
}

/// Where rank 0 writes: a launcher that ends with the program may lose what is printed last.
std::ofstream output;

/// Prints, and says whether all values and counts were right.
bool report(const mpi::Comm& comm, const std::string& what, const std::vector<RouteTime>& times) {
  bool right = true;
  for (const RouteTime& t : times) {
    right = right && t.wrong_values == 0 && t.uncounted == 0;
    if (!comm.is_root()) continue;
    output << fmt::format(
        "{} route={} us={:.3f} max_off_node={} max_on_node={} sum_off_node={} sum_on_node={} "
        "entries_off_node={} wrong_values={} uncounted={}\n",
        what, t.route, 1e6 * t.seconds, t.max_off_node, t.max_on_node, t.sum_off_node,
        t.sum_on_node, t.entries_off_node, t.wrong_values, t.uncounted);
  }
  if (comm.is_root()) output << std::flush;
  return right;
}

/// Collective. Plans on rank 0, exchanges, and lets the event simulation say what it should take.
bool exchange(const std::shared_ptr<const mpi::Comm>& comm, const std::string& what,
              const WantedExchange& wanted, const Arguments& arguments) {
  PlansByRoute plans;
  if (comm->is_root()) plans = plan_all(wanted, comm->topology());
  const bool right = report(*comm, what, time_routes(hand_out(comm, wanted, plans)));
  if (!arguments.platform || !comm->is_root()) return right;
  const Platform platform = read_platform(*arguments.platform);
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const PredictedTime time = predicted_time(plans[k], comm->topology(), platform);
    output << fmt::format("predicted {} route={} us={:.3f} low={:.3f} high={:.3f}\n", what,
                          *planned_routes[k].name, 1e6 * time.median, 1e6 * time.least,
                          1e6 * time.most)
           << std::flush;
  }
  return right;
}

bool exchange_randomly(const std::shared_ptr<const mpi::Comm>& comm, const Arguments& arguments) {
  WantedExchange wanted;
  if (comm->is_root()) wanted = random_exchange(comm->size(), arguments.exchange);
  return exchange(comm, fmt::format("random degree={}", arguments.exchange.degree), wanted,
                  arguments);
}

/// Local. The hierarchy as it is on so many ranks.
amg::Hierarchy<double> virtual_hierarchy(const Arguments& arguments, int n_ranks) {
  const std::vector<int> one_node = {0};
  const auto self = mpi::Comm::create(MPI_COMM_SELF, one_node);
  const std::shared_ptr<const Matrix> A = make_matrix(self, parse_problem(arguments.levels));
  amg::ProblemInfo<double> knowledge;
  knowledge.virtual_starts = comm::uniform_starts(A->rows().n_global(), n_ranks);
  return {A, amg_options(arguments), std::move(knowledge), {}};
}

bool exchange_levels(const std::shared_ptr<const mpi::Comm>& comm, const Arguments& arguments) {
  std::optional<amg::Hierarchy<double>> hierarchy;
  if (comm->is_root()) hierarchy.emplace(virtual_hierarchy(arguments, comm->size()));
  const int n =
      mpi::broadcast(*comm, hierarchy ? static_cast<int>(hierarchy->levels().size()) : 0, 0);
  bool right = true;
  for (int l = 0; l < n; ++l) {
    WantedExchange wanted;
    std::string what;
    if (hierarchy) {
      const Matrix& A = *hierarchy->matrix(static_cast<std::size_t>(l));
      const auto starts = hierarchy->virtual_starts(static_cast<std::size_t>(l));
      wanted.starts.assign(starts.begin(), starts.end());
      wanted.ghosts = matrix::virtual_ghosts(A.on(), starts, starts);
      what = fmt::format("level problem={} level={} rows={} nonzeros={}", arguments.levels, l,
                         A.rows().n_global(), A.nnz_global());
    }
    right = exchange(comm, what, wanted, arguments) && right;
  }
  return right;
}

/// Solves once with `route:level`, the route from that level on; says whether it converged.
bool solve_by(const std::shared_ptr<const Matrix>& A, std::span<const double> b,
              const std::string& choice, const Arguments& arguments) {
  const mpi::Comm& comm = A->comm();
  amg::Options options = amg_options(arguments);
  const Problem route = parse_problem(choice);  // of the same form
  set_option(options, amg::option_fields(), "route", route.name);
  options.route_from_level = route.n;
  double start = start_together(comm);
  const amg::Hierarchy<double> M(A, options);
  const double setup = mpi::max(comm, MPI_Wtime() - start);
  const solve::MatrixOperator<double> op(M.matrix(0));
  std::vector<double> x(b.size(), 0.0);
  start = start_together(comm);
  const solve::Report result = solve::cg<double>(op, &M, b, x, {});
  const double solve = mpi::max(comm, MPI_Wtime() - start);
  const double residual = true_relative_residual(*A, b, x);
  if (comm.is_root()) {
    output << fmt::format(
                  "solve problem={} route={} from_level={} setup_us={:.1f} solve_us={:.1f} "
                  "iterations={} levels={} residual={:.2e}\n",
                  arguments.solve, route.name, route.n, 1e6 * setup, 1e6 * solve, result.iterations,
                  M.levels().size(), residual)
           << std::flush;
  }
  return result.outcome == solve::Outcome::converged;
}

bool solve_by_choices(const std::shared_ptr<const mpi::Comm>& comm, const Arguments& arguments) {
  const std::shared_ptr<const Matrix> A = make_matrix(comm, parse_problem(arguments.solve));
  const std::vector<double> b = make_rhs(A->rows());
  bool right = true;
  for (const std::string& choice : arguments.choices) {
    right = solve_by(A, b, choice, arguments) && right;
  }
  return right;
}

/// Whether all that was asked for came out right.
bool run(const Arguments& arguments) {
  // Nothing that is not timed should poll: to look for messages in vain is slow to simulate.
  const std::shared_ptr<const mpi::Comm> comm =
      mpi::Comm::create(MPI_COMM_WORLD, {.sparse_exchange = "personalized"});
  if (comm->is_root()) {
    output.open(arguments.output);
    output << fmt::format("machine ranks={} nodes={}\n", comm->size(), comm->topology().n_nodes());
  }
  bool right = true;
  if (arguments.random) right = exchange_randomly(comm, arguments) && right;
  if (!arguments.levels.empty()) right = exchange_levels(comm, arguments) && right;
  if (!arguments.solve.empty()) right = solve_by_choices(comm, arguments) && right;
  // The last line: a simulation that ends before it has failed, whatever its exit status says.
  if (comm->is_root()) output << (right ? "end right\n" : "end WRONG\n") << std::flush;
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Exchanges and solves timed by MPI_Wtime, for simulated machines.");
  app.add_flag("--random", arguments.random, "a random sparse exchange");
  app.add_option("--degree", arguments.exchange.degree, "destinations of a rank in it")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--entries", arguments.exchange.entries, "numbers in one message of it")
      ->check(CLI::PositiveNumber);
  app.add_option("--owned", arguments.exchange.owned, "numbers of a rank in it")
      ->check(CLI::PositiveNumber);
  app.add_option("--levels", arguments.levels, "name:n, exchange every level of its hierarchy");
  app.add_option("--solve", arguments.solve, "name:n, solve it");
  app.add_option("--choice", arguments.choices, "route:level, what to solve it with");
  app.add_option("--platform", arguments.platform,
                 "name=number,...: predict the exchanges on the flat platform with this");
  app.add_option("--output", arguments.output, "the file that is written");
  app.add_option("--amg", arguments.amg, "name=value, an option of the hierarchy; may be repeated");
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  bool right = false;
  try {
    right = run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "nodewise_bench_simulated: " << error.what() << "\n";
    return EXIT_FAILURE;  // without MPI_Finalize: the launcher ends the other ranks
  }
  MPI_Finalize();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
