// The algorithms of the sparse dynamic data exchange side by side, on random patterns.
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/sdde/choice.hpp"
#include "nodewise/comm/sdde/sdde.hpp"
#include "nodewise/mpi/ledger.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;
using mpi::SparseExchange;

struct Arguments {
  std::vector<int> messages = {1, 4, 16, 64};
  std::vector<int> bytes = {8, 1024, 16384};
  int repeats = 9;
  int exchanges = 3;  ///< of one sample
  int ranks_per_node = 0;
};

/// Different random ranks, at most as many as there are others, all messages of one size.
struct Sends {
  std::vector<int> destinations;
  Offset bytes;
  std::vector<std::byte> data;
};

Sends random_sends(const mpi::Comm& comm, int messages, int bytes) {
  std::vector<std::pair<std::uint64_t, int>> drawn;
  for (int to = 0; to < comm.size(); ++to) {
    if (to == comm.rank()) continue;
    drawn.emplace_back(hash64(static_cast<std::uint64_t>(to), comm.rank()), to);
  }
  const std::size_t n = std::min(drawn.size(), static_cast<std::size_t>(messages));
  std::partial_sort(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(n), drawn.end());
  Sends sends{{}, bytes, std::vector<std::byte>(n * static_cast<std::size_t>(bytes))};
  for (std::size_t i = 0; i < n; ++i) sends.destinations.push_back(drawn[i].second);
  std::sort(sends.destinations.begin(), sends.destinations.end());
  return sends;
}

struct Entrant {
  SparseExchange algorithm;
  std::int64_t messages_off_node = 0;
  std::int64_t busiest = 0;  ///< the most of a rank
  std::vector<double> ms = {};
};

void exchange(const mpi::Comm& comm, const Sends& sends, SparseExchange algorithm) {
  comm::SparseOptions options;
  options.algorithm = algorithm;
  comm::alltoall_crs<std::byte>(comm, sends.destinations, sends.bytes, sends.data, options);
}

/// Collective. MPI's clock, which a simulator provides too.
double milliseconds(const mpi::Comm& comm, const Sends& sends, const Entrant& entrant, int times) {
  mpi::check(MPI_Barrier(comm.get()), "MPI_Barrier");
  const double start = MPI_Wtime();
  for (int k = 0; k < times; ++k) exchange(comm, sends, entrant.algorithm);
  return 1e3 * mpi::max(comm, MPI_Wtime() - start) / times;
}

std::int64_t off_node_so_far(const mpi::Comm& comm) {
  std::int64_t n = 0;
  for (const mpi::Account& account : comm.ledger().accounts()) {
    n += account.counts.messages_off_node;
  }
  return n;
}

void count(const mpi::Comm& comm, const Sends& sends, Entrant& entrant) {
  const std::int64_t before = off_node_so_far(comm);
  exchange(comm, sends, entrant.algorithm);
  const std::int64_t mine = off_node_so_far(comm) - before;
  entrant.messages_off_node = mpi::sum(comm, mine);
  entrant.busiest = mpi::max(comm, mine);
}

std::vector<Entrant> measure(const mpi::Comm& comm, const Sends& sends,
                             const Arguments& arguments) {
  std::vector<Entrant> entrants;
  for (const SparseExchange algorithm :
       {"nonblocking", "personalized", "rma", "locality_personalized", "locality_nonblocking",
        "automatic"}) {
    entrants.push_back({algorithm});
    count(comm, sends, entrants.back());  // warms up, too
  }
  const std::size_t n = entrants.size();
  for (int repeat = 0; repeat < arguments.repeats; ++repeat) {
    for (std::size_t k = 0; k < n; ++k) {  // in each repeat in another order
      Entrant& entrant = entrants[(k + static_cast<std::size_t>(repeat)) % n];
      entrant.ms.push_back(milliseconds(comm, sends, entrant, arguments.exchanges));
    }
  }
  return entrants;
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = make_comm(arguments.ranks_per_node);
  for (const int messages : arguments.messages) {
    for (const int bytes : arguments.bytes) {
      const Sends sends = random_sends(*comm, messages, bytes);
      const std::vector<Offset> lengths(sends.destinations.size(), sends.bytes);
      const std::string choice = comm::explain_choice(*comm, sends.destinations, lengths);
      const std::vector<Entrant> entrants = measure(*comm, sends, arguments);
      if (!comm->is_root()) continue;
      std::cout << fmt::format("#### {} messages a rank, {} bytes each\n\n{}\n",
                               sends.destinations.size(), bytes, choice)
                << "| algorithm | off-node messages | of the busiest rank | exchange, ms | "
                   "nonblocking / this |\n|---|---|---|---|---|\n";
      for (const Entrant& e : entrants) {
        std::cout << fmt::format("| {} | {} | {} | {} | {} |\n", e.algorithm.name(),
                                 e.messages_off_node, e.busiest, to_text(spread(e.ms), 3),
                                 to_text(spread(ratios(entrants.front().ms, e.ms)), 2));
      }
      std::cout << "\n" << std::flush;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare the algorithms of the sparse dynamic data exchange; prints Markdown.");
  app.add_option("--messages", arguments.messages, "random destinations of each rank, one or more");
  app.add_option("--bytes", arguments.bytes, "of each message, one or more");
  app.add_option("--repeats", arguments.repeats, "samples of each")->check(CLI::PositiveNumber);
  app.add_option("--exchanges", arguments.exchanges, "in one sample")->check(CLI::PositiveNumber);
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
