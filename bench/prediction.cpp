// The models beside the machine: one product's exchange on every level of a hierarchy over every
// route, measured and predicted from a machine file, such as `nodewise calibrate` writes.
#include <algorithm>
#include <cmath>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/event_costs.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/message_recorder.hpp"
#include "nodewise/model/overlapped_cost.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;
using comm::Route;

const Family<comm::RouteMethod>& routes = comm::RouteMethod::family();

struct Arguments {
  std::vector<std::string> problems = {"laplace27:24", "rotated_fe:120"};
  std::string machine;
  int repeats = 9;
  int exchanges = 3;  ///< of one sample
  int ranks_per_node = 0;
};

/// One route on one level; what is predicted is known on rank 0 only.
struct Entrant {
  Matrix A;
  std::vector<double> measured_s;
  double formula_s = 0;     ///< latencies added up
  double overlapped_s = 0;  ///< formula, with latencies that overlap
  double simulated_s = 0;

  double median() const { return spread(measured_s).median; }
};

/// Collective. The ghosts of all ranks, on rank 0.
comm::Records<GlobalIndex> gather_ghosts(const Matrix& A) {
  const mpi::Comm& comm = A.comm();
  const std::span<const GlobalIndex> mine = A.ghosts();
  const int n_mine = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(comm.size()));
  mpi::check(MPI_Gather(&n_mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm.get()),
             "MPI_Gather");
  comm::Records<GlobalIndex> all;
  std::vector<int> places;
  if (comm.is_root()) {
    for (const int n : counts) {
      places.push_back(narrow<int>(all.offsets.back()));
      all.offsets.push_back(all.offsets.back() + n);
    }
    all.data.resize(static_cast<std::size_t>(all.offsets.back()));
  }
  mpi::check(MPI_Gatherv(mine.data(), n_mine, MPI_INT64_T, all.data.data(), counts.data(),
                         places.data(), MPI_INT64_T, 0, comm.get()),
             "MPI_Gatherv");
  return all;
}

/// What a machine file says nothing of is assumed, as for the simulation.
model::Machine with_overheads(model::Machine machine) {
  machine.overheads = model::overheads_of(machine);
  return machine;
}

double simulated_time(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                      const model::Machine& machine) {
  model::MessageRecorder recorder(topology.n_ranks());
  comm::visit_messages(plans, topology, recorder.visitor(sizeof(double)));
  model::ExchangeTally tally(machine, topology);
  comm::visit_messages(plans, topology,
                       [&](std::size_t stage, int from, int to, std::int64_t entries) {
                         tally.add(stage, from, to, static_cast<double>(entries) * sizeof(double));
                       });
  const model::EventCosts costs = model::event_costs(machine, model::overheads_of(machine),
                                                     model::charges(machine, tally.most_crowded()));
  return model::simulate_events(recorder.take(), topology, costs, model::usual_order).end();
}

/// Collective.
std::vector<Entrant> predict(const Matrix& A, const model::Machine& machine) {
  const mpi::Topology& topology = A.comm().topology();
  const comm::Records<GlobalIndex> ghosts = gather_ghosts(A);
  std::vector<comm::Pattern> patterns;
  if (A.comm().is_root()) patterns = comm::virtual_patterns(A.cols().starts(), ghosts);
  const Matrix direct = A.with_route("direct");
  std::vector<Entrant> entrants;
  for (const Route route : routes) {
    Entrant& entrant = entrants.emplace_back(Entrant{direct.with_route(route), {}});
    if (!A.comm().is_root()) continue;
    const std::vector<comm::Plan> plans = comm::virtual_plans(patterns, topology, route);
    entrant.formula_s = model::forward_cost(plans, topology, machine).total();
    entrant.overlapped_s = model::overlapped_forward_s(plans, topology, with_overheads(machine));
    entrant.simulated_s = simulated_time(plans, topology, machine);
  }
  return entrants;
}

/// Collective. Every route in turn, in each repeat in another order.
void measure(std::vector<Entrant>& entrants, const Arguments& arguments) {
  for (int repeat = -1; repeat < arguments.repeats; ++repeat) {  // the first to warm up
    for (std::size_t k = 0; k < entrants.size(); ++k) {
      Entrant& entrant = entrants[(k + static_cast<std::size_t>(repeat + 1)) % entrants.size()];
      const Matrix& A = entrant.A;
      const std::vector<double> x(static_cast<std::size_t>(A.n_local()), 1.0);
      std::vector<double> ghosts(static_cast<std::size_t>(A.n_ghosts()));
      const double seconds = timed(A.comm(), [&] {
        for (int e = 0; e < arguments.exchanges; ++e) {
          A.exchange().forward(std::span<const double>(x), std::span<double>(ghosts));
        }
      });
      if (repeat >= 0) entrant.measured_s.push_back(seconds / arguments.exchanges);
    }
  }
}

std::vector<double> times(double factor, std::vector<double> values) {
  for (double& value : values) value *= factor;
  return values;
}

/// How good one of the predictions is.
struct Score {
  std::vector<double> errors;  ///< |predicted / measured - 1|
  int good_choices = 0;        ///< levels whose predicted best is measured within 10 % of the best
  int levels = 0;

  void add(const std::vector<Entrant>& entrants, double Entrant::*predicted) {
    double best = INFINITY;
    const Entrant* chosen = &entrants.front();
    for (const Entrant& e : entrants) {
      errors.push_back(std::abs(e.*predicted / e.median() - 1));
      best = std::min(best, e.median());
      if (e.*predicted < chosen->*predicted) chosen = &e;
    }
    ++levels;
    if (chosen->median() <= 1.1 * best) ++good_choices;
  }
  void print(const std::string& name) const {
    std::cout << fmt::format(
        "- {}: error {} %; the choice is within 10 % of the best on {} of {} levels\n", name,
        to_text(spread(times(100, errors)), 0), good_choices, levels);
  }
};

struct Scores {
  Score formula, overlapped, simulation;
};

void print_level(std::size_t level, const std::vector<Entrant>& entrants) {
  for (const Entrant& e : entrants) {
    const auto beside = [&](double seconds) {
      return fmt::format("{:.3g} | {:.2f}", 1e3 * seconds, seconds / e.median());
    };
    std::cout << fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", level, e.A.rows().n_global(),
                             e.A.route().name(), to_text(spread(times(1e3, e.measured_s)), 2),
                             beside(e.formula_s), beside(e.overlapped_s), beside(e.simulated_s));
  }
}

void compare(const std::shared_ptr<const mpi::Comm>& comm, const std::string& text,
             const model::Machine& machine, const Arguments& arguments, Scores& scores) {
  const amg::Hierarchy<double> hierarchy(make_matrix(comm, parse_problem(text)), {});
  if (comm->is_root()) {
    std::cout << fmt::format(
        "#### {}: {} ranks on {} nodes\n\n"
        "| level | rows | route | measured, ms | formula, ms | / measured | overlapped, ms | / "
        "measured | simulated, ms | / measured |\n|---|---|---|---|---|---|---|---|---|---|\n",
        text, comm->size(), comm->topology().n_nodes());
  }
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    std::vector<Entrant> entrants = predict(*hierarchy.matrix(l), machine);
    measure(entrants, arguments);
    if (!comm->is_root()) continue;
    print_level(l, entrants);
    scores.formula.add(entrants, &Entrant::formula_s);
    scores.overlapped.add(entrants, &Entrant::overlapped_s);
    scores.simulation.add(entrants, &Entrant::simulated_s);
  }
  if (comm->is_root()) std::cout << "\n" << std::flush;
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = make_comm(arguments.ranks_per_node);
  const model::Machine machine = io::find_machine(*comm, arguments.machine);
  Scores scores;
  for (const std::string& text : arguments.problems) {
    compare(comm, text, machine, arguments, scores);
  }
  if (!comm->is_root()) return;
  scores.formula.print("by formula");
  scores.overlapped.print("by formula with overlapping latencies");
  scores.simulation.print("simulated");
  std::cout << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare predicted with measured exchanges; prints Markdown.");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--machine", arguments.machine, "a machine file, or a shipped machine")
      ->required();
  app.add_option("--repeats", arguments.repeats, "samples of each route")
      ->check(CLI::PositiveNumber);
  app.add_option("--exchanges", arguments.exchanges, "in one sample")->check(CLI::PositiveNumber);
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
