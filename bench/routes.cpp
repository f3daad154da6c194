// The routes and transports side by side: one halo exchange on every level of a hierarchy, and
// whole solves over the routes.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/routing/network_probe.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;
using comm::Route;
using comm::Transport;

const Family<comm::RouteMethod>& routes = comm::RouteMethod::family();

struct Arguments {
  std::vector<std::string> problems = {"laplace27:24", "rotated_fe:120", "random:4000"};
  std::vector<std::string> dealt_out;
  std::vector<std::string> transports = {"point_to_point"};
  int repeats = 9;
  int exchanges = 3;  ///< of one sample
  int solves = 5;
  int ranks_per_node = 0;
  bool levels = true;
};

/// One route over one transport on one level.
struct Entrant {
  Matrix A;
  std::vector<double> planning_s;  ///< with the discovery of the pattern
  std::vector<double> exchange_s;
};

struct Counts {
  std::int64_t messages, busiest, entries, messages_on_node;
};

Counts count(const Matrix& A) {
  const mpi::Comm& comm = A.comm();
  const comm::Traffic t = comm::traffic(A.exchange().plan(), comm.topology(), comm.rank());
  return {mpi::sum(comm, t.messages_off_node), mpi::max(comm, t.messages_off_node),
          mpi::sum(comm, t.entries_off_node), mpi::sum(comm, t.messages_on_node)};
}

/// Every route in turn.
std::vector<std::vector<double>> time_planning(const Matrix& A, int repeats) {
  std::vector<std::vector<double>> seconds(std::size(routes));
  for (int repeat = -1; repeat < repeats; ++repeat) {  // the first to warm up
    for (std::size_t r = 0; r < seconds.size(); ++r) {
      const double s = timed(A.comm(), [&] {
        const comm::Pattern pattern = comm::discover_pattern(A.cols(), A.ghosts());
        comm::make_plan(A.comm(), pattern, routes[r]);
      });
      if (repeat >= 0) seconds[r].push_back(1e3 * s);
    }
  }
  return seconds;
}

std::vector<Entrant> entrants_for(const Matrix& A, std::span<const Transport> transports,
                                  int repeats) {
  std::vector<Entrant> entrants;
  const Matrix direct = A.with_route("direct");
  const auto planning = time_planning(A, repeats);
  for (std::size_t r = 0; r < planning.size(); ++r) {
    for (const Transport& transport : transports) {
      entrants.push_back({direct.with_route(routes[r], transport), planning[r], {}});
    }
  }
  return entrants;
}

/// Those that are named and that this MPI has; says which it has not.
std::vector<Transport> choose_transports(const mpi::Comm& comm, const Arguments& arguments) {
  std::vector<Transport> chosen;
  for (const std::string& name : arguments.transports) {
    const Transport transport = comm::TransportMethod::family().find(name);
    try {
      comm::require_available(comm, transport);
      chosen.push_back(transport);
    } catch (const Error& error) {
      if (comm.is_root()) std::cout << "NOT MEASURED: " << error.what() << "\n\n";
    }
  }
  return chosen;
}

/// Every entrant in turn, in each repeat in another order.
void measure(std::vector<Entrant>& entrants, const Arguments& arguments) {
  const std::size_t n = entrants.size();
  for (int repeat = -1; repeat < arguments.repeats; ++repeat) {  // the first to warm up
    for (std::size_t k = 0; k < n; ++k) {
      Entrant& entrant = entrants[(k + static_cast<std::size_t>(repeat + 1)) % n];
      const Matrix& A = entrant.A;
      const std::vector<double> x(static_cast<std::size_t>(A.n_local()), 1.0);
      std::vector<double> ghosts(static_cast<std::size_t>(A.n_ghosts()));
      const double seconds = timed(A.comm(), [&] {
        for (int e = 0; e < arguments.exchanges; ++e) {
          A.exchange().forward(std::span<const double>(x), std::span<double>(ghosts));
        }
      });
      if (repeat >= 0) entrant.exchange_s.push_back(1e3 * seconds / arguments.exchanges);
    }
  }
}

void print_levels(const amg::Hierarchy<double>& hierarchy, const Arguments& arguments) {
  const mpi::Comm& comm = hierarchy.layout().comm();
  const std::vector<Transport> transports = choose_transports(comm, arguments);
  if (comm.is_root()) {
    std::cout
        << "| level | rows | route | transport | off-node messages | of the busiest rank | "
           "off-node KB | "
           "on-node messages | planning, ms | this / direct | exchange, ms | direct / this |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  }
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const Matrix& A = *hierarchy.matrix(l);
    std::vector<Entrant> entrants = entrants_for(A, transports, arguments.repeats);
    measure(entrants, arguments);
    for (const Entrant& e : entrants) {
      const Counts c = count(e.A);
      if (!comm.is_root()) continue;
      std::cout << fmt::format(
          "| {} | {} | {} | {} | {} | {} | {:.1f} | {} | {} | {} | {} | {} |\n", l,
          A.rows().n_global(), e.A.route().name(), e.A.transport().name(), c.messages, c.busiest,
          8e-3 * static_cast<double>(c.entries), c.messages_on_node,
          to_text(spread(e.planning_s), 1),
          to_text(spread(ratios(e.planning_s, entrants.front().planning_s)), 2),
          to_text(spread(e.exchange_s), 2),
          to_text(spread(ratios(entrants.front().exchange_s, e.exchange_s)), 2));
    }
  }
  if (comm.is_root()) std::cout << "\n" << std::flush;
}

/// A way to choose the routes of a hierarchy.
struct Choice {
  Route route;
  int from_level = 0;
  Transport transport = "point_to_point";
  std::vector<double> setup_s = {}, solve_s = {}, total_s = {};
  int iterations = 0;

  bool looks_at_network() const { return route == "automatic"; }
};

std::string name_of(const Choice& choice) {
  std::string name = choice.route.name();
  if (choice.from_level > 0) name += fmt::format(" from level {}", choice.from_level);
  if (choice.transport == "automatic") name += ", transport by trial";
  return name;
}

/// Collective. What a communicator costs that has not seen the network yet: the matrices of this
/// program share one that has.
double time_look(const mpi::Comm& comm) {
  if (comm.topology().n_nodes() < 2) return 0;
  const auto fresh = mpi::Comm::create(comm.get(), comm.topology());
  return timed(comm, [&] { (void)routing::probe_network(*fresh); });
}

void solve_once(const std::shared_ptr<const Matrix>& A, std::span<const double> b, Choice& choice) {
  amg::Options options;
  options.route = choice.route;
  options.route_from_level = choice.from_level;
  options.transport = choice.transport;
  if (choice.transport == "automatic") options.expected_solves = routing::solves_for_a_trial;
  const double look = choice.looks_at_network() ? time_look(A->comm()) : 0;
  std::unique_ptr<amg::Hierarchy<double>> M;
  const double setup =
      look + timed(A->comm(), [&] { M = std::make_unique<amg::Hierarchy<double>>(A, options); });
  std::vector<double> x(b.size(), 0.0);
  // The Krylov method's own product takes the route of the finest level.
  const solve::MatrixOperator<double> op(M->matrix(0));
  solve::Report report;
  const double solve = timed(A->comm(), [&] { report = solve::cg<double>(op, M.get(), b, x, {}); });
  choice.setup_s.push_back(setup);
  choice.solve_s.push_back(solve);
  choice.total_s.push_back(setup + solve);
  choice.iterations = report.iterations;
}

/// What is lost by not knowing the best choice, and by not going straight everywhere.
void print_regret(std::span<const Choice> choices) {
  const auto median = [](const Choice& c) { return spread(c.total_s).median; };
  const auto fixed = choices.subspan(2);  // behind what chooses for itself
  const Choice& best =
      *std::min_element(fixed.begin(), fixed.end(),
                        [&](const Choice& a, const Choice& b) { return median(a) < median(b); });
  const Choice& automatic = choices.front();
  std::cout << fmt::format("automatic / best ({}): {}; automatic / direct: {}\n\n", name_of(best),
                           to_text(spread(ratios(automatic.total_s, best.total_s)), 3),
                           to_text(spread(ratios(automatic.total_s, fixed[0].total_s)), 3));
}

/// Says what was chosen, and what the look at the network saw.
void print_choices(const std::shared_ptr<const Matrix>& A) {
  amg::Options options;
  options.route = "automatic";
  const amg::Hierarchy<double> hierarchy(A, options);
  if (!A->comm().is_root()) return;
  std::string basis;
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const amg::LevelInfo& info = hierarchy.levels()[l];
    if (!info.route_choice->basis.empty()) basis = info.route_choice->basis;
    std::cout << fmt::format("- level {}: {}, {}; setup {}, {}\n", l, info.routes.solve.name(),
                             info.route_choice->reason, info.routes.setup.name(),
                             info.setup_route_choice->reason);
  }
  if (!basis.empty()) std::cout << "- by " << basis << "\n";
  std::cout << "\n";
}

void print_solves(const std::shared_ptr<const Matrix>& A, const Arguments& arguments) {
  const std::vector<double> b = make_rhs(A->rows());
  std::vector<Choice> choices = {{"automatic"}, {"direct", 0, "automatic"}, {"direct"}};
  for (const Route route : {"two_step", "three_step"}) {
    for (const int from : {0, 1, 2}) choices.push_back({route, from});
  }
  print_choices(A);
  for (int repeat = 0; repeat < arguments.solves; ++repeat) {
    for (Choice& choice : choices) solve_once(A, b, choice);
  }
  if (!A->comm().is_root()) return;
  std::cout << "| routes | iterations | setup, s | solve, s | total, s | direct / this |\n"
               "|---|---|---|---|---|---|\n";
  for (const Choice& c : choices) {
    std::cout << fmt::format("| {} | {} | {} | {} | {} | {} |\n", name_of(c), c.iterations,
                             to_text(spread(c.setup_s), 3), to_text(spread(c.solve_s), 3),
                             to_text(spread(c.total_s), 3),
                             to_text(spread(ratios(choices[2].total_s, c.total_s)), 2));
  }
  std::cout << "\n";
  print_regret(choices);
  std::cout << std::flush;
}

void print_matrix(const std::string& name, const std::shared_ptr<const Matrix>& A,
                  const Arguments& arguments) {
  const mpi::Comm& comm = A->comm();
  const amg::Hierarchy<double> hierarchy(A, {});
  if (comm.is_root()) {
    std::cout << fmt::format("#### {}: {} ranks on {} nodes\n\n", name, comm.size(),
                             comm.topology().n_nodes());
  }
  if (arguments.levels) print_levels(hierarchy, arguments);
  if (arguments.solves > 0 && matrix::is_symmetric(*A)) print_solves(A, arguments);
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = make_comm(arguments.ranks_per_node);
  for (const std::string& text : arguments.problems) {
    const Problem problem = parse_problem(text);
    print_matrix(fmt::format("{}, n = {}", problem.name, problem.n), make_matrix(comm, problem),
                 arguments);
  }
  for (const std::string& file : arguments.dealt_out) {
    print_matrix(fmt::format("{}, row i on rank i mod P", file.substr(file.rfind('/') + 1)),
                 dealt_out(io::read_matrix<double>(comm, file)), arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare the routes between nodes; prints Markdown.");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--dealt-out", arguments.dealt_out,
                 "files of square matrices, row i to be on rank i modulo the ranks");
  app.add_option("--transport", arguments.transports, "one or more");
  app.add_option("--repeats", arguments.repeats, "samples of each route")
      ->check(CLI::PositiveNumber);
  app.add_option("--exchanges", arguments.exchanges, "in one sample")->check(CLI::PositiveNumber);
  app.add_option("--solves", arguments.solves, "of each choice of routes; 0: none")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--levels,!--no-levels", arguments.levels, "time the exchanges of each level");
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
