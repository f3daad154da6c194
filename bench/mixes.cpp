// Processes of one and of more threads side by side: the exchange of a product on every level of a
// hierarchy, over every route, by all ranks of the nodes and by every second, every fourth and so
// on, whose threads would share the work of those between. Figure 5.15 of Bienz 2018. A line of
// JSON for each mix, level and route; the levels of all mixes are the same where the splitting does
// not depend on the ranks (coarsening=pmis).
//   mpirun -n 16 nodewise_bench_mixes --problem beam:8 --option unknowns=3 --option coarsening=pmis
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/plan.hpp"

#include "measure.hpp"
#include "name_and_value.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::string problem = "beam:8";
  std::vector<std::string> options;
  std::vector<int> threads = {1, 2, 4};
  int repeats = 9;
  int exchanges = 1;  ///< of one sample
  int ranks_per_node = 0;
};

/// The ranks of a mix; null where this one is not of them.
std::shared_ptr<const mpi::Comm> make_mix(const mpi::Comm& all, int threads) {
  const mpi::Topology& topology = all.topology();
  const auto takes_part = [&](int rank) {
    return topology.place_on_node(rank) % static_cast<std::size_t>(threads) == 0;
  };
  const bool mine = takes_part(all.rank());
  MPI_Comm comm = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split(all.get(), mine ? 0 : MPI_UNDEFINED, all.rank(), &comm),
             "MPI_Comm_split");
  if (!mine) return nullptr;
  std::vector<int> node_of_rank;
  for (int rank = 0; rank < all.size(); ++rank) {
    if (takes_part(rank)) node_of_rank.push_back(topology.node(rank));
  }
  auto mix = mpi::Comm::create(comm, node_of_rank);
  MPI_Comm_free(&comm);
  return mix;
}

/// One level over one route, with as many threads a rank.
struct Entrant {
  int threads;
  std::size_t level;
  std::string route;
  std::unique_ptr<Matrix> A;  ///< null where this rank takes no part
  std::vector<double> ms = {};

  void exchange(int times) const {
    if (!A) return;
    const std::vector<double> x(static_cast<std::size_t>(A->n_local()), 1.0);
    std::vector<double> ghosts(static_cast<std::size_t>(A->n_ghosts()));
    for (int k = 0; k < times; ++k) {
      A->exchange().forward(std::span<const double>(x), std::span<double>(ghosts));
    }
  }
};

/// Collective. The levels of one mix. Which routes there are, and how many levels, all ranks know.
void add_mix(const mpi::Comm& all, const Arguments& arguments, int threads,
             std::vector<Entrant>& entrants) {
  amg::Options options;
  set_from_words(options, arguments.options);
  const std::shared_ptr<const mpi::Comm> mix = make_mix(all, threads);
  std::unique_ptr<amg::Hierarchy<double>> hierarchy;
  if (mix) {
    hierarchy = std::make_unique<amg::Hierarchy<double>>(
        make_matrix(mix, parse_problem(arguments.problem)), options);
  }
  const auto n_levels = static_cast<std::size_t>(
      mpi::max(all, hierarchy ? static_cast<std::int64_t>(hierarchy->levels().size()) : 0));
  for (std::size_t level = 0; level < n_levels; ++level) {
    for (const comm::RouteMethod& route : comm::RouteMethod::family()) {
      entrants.push_back({threads, level, route.name, nullptr});
      if (!mix) continue;
      entrants.back().A =
          std::make_unique<Matrix>(hierarchy->matrix(level)->with_route(comm::Route(route)));
    }
  }
}

/// Collective. Every entrant in turn, in each repeat in another order.
void measure(const mpi::Comm& all, const Arguments& arguments, std::vector<Entrant>& entrants) {
  const std::size_t n = entrants.size();
  for (int repeat = -1; repeat < arguments.repeats; ++repeat) {  // the first to warm up
    for (std::size_t k = 0; k < n; ++k) {
      Entrant& entrant = entrants[(k + static_cast<std::size_t>(repeat + 1)) % n];
      const double s = timed(all, [&] { entrant.exchange(arguments.exchanges); });
      if (repeat >= 0) entrant.ms.push_back(1e3 * s / arguments.exchanges);
    }
  }
}

/// Collective.
void print(const mpi::Comm& all, const std::string& problem, const Entrant& entrant) {
  std::int64_t messages = 0;
  GlobalIndex rows = 0;
  int ranks = 0;
  if (entrant.A) {
    const mpi::Comm& mix = entrant.A->comm();
    messages =
        comm::traffic(entrant.A->exchange().plan(), mix.topology(), mix.rank()).messages_off_node;
    rows = entrant.A->rows().n_global();
    ranks = mix.size();
  }
  const std::int64_t most = mpi::max(all, messages);
  const std::int64_t sum = mpi::sum(all, messages);
  rows = mpi::max(all, rows);
  ranks = static_cast<int>(mpi::max(all, static_cast<std::int64_t>(ranks)));
  if (!all.is_root()) return;
  std::cout << fmt::format(
                   "{{\"problem\": \"{}\", \"nodes\": {}, \"ranks\": {}, \"threads\": {}, "
                   "\"level\": {}, \"rows\": {}, \"route\": \"{}\", \"messages_off\": {}, "
                   "\"most_messages_off\": {}, \"ms\": [{:.4g}]}}",
                   problem, all.topology().n_nodes(), ranks, entrant.threads, entrant.level, rows,
                   entrant.route, sum, most, fmt::join(entrant.ms, ", "))
            << std::endl;
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> all = make_comm(arguments.ranks_per_node);
  std::vector<Entrant> entrants;
  for (const int threads : arguments.threads) add_mix(*all, arguments, threads, entrants);
  measure(*all, arguments, entrants);
  for (const Entrant& entrant : entrants) print(*all, arguments.problem, entrant);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare the exchanges of processes of one and of more threads.");
  app.add_option("--problem", arguments.problem, "name:n");
  app.add_option("--option", arguments.options, "of the hierarchy, name=value, one or more");
  app.add_option("--threads", arguments.threads,
                 "of a rank, numbers that divide the ranks of a node")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--repeats", arguments.repeats, "samples of each")->check(CLI::PositiveNumber);
  app.add_option("--exchanges", arguments.exchanges, "in one sample")->check(CLI::PositiveNumber);
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
