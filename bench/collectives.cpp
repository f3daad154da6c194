// The collectives by MPI's own algorithms and by the library's, side by side.
#include <cstdlib>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/mpi/collectives/allgather.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"
#include "nodewise/mpi/collectives/alltoallv.hpp"
#include "nodewise/mpi/ledger.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<int> reduced = {1, 4, 16, 64, 256, 1024, 4096};
  std::vector<int> gathered = {1, 8, 64, 512};
  std::vector<int> exchanged = {1, 8, 64, 512};
  int repeats = 9;
  int calls = 10;  ///< of one sample
  int ranks_per_node = 0;
};

/// Messages between nodes, of all ranks and of the one that sends most.
struct Messages {
  std::int64_t all;
  std::int64_t busiest;
};

/// MPI's own algorithm, called without the library, or one of the library's.
struct Entrant {
  std::string algorithm;
  std::shared_ptr<const mpi::Comm> comm;
  Messages messages = {};
  std::vector<double> us = {};

  std::string name() const { return algorithm == "mpi" ? "MPI" : algorithm; }
};

/// All algorithms of the collective that `setting` chooses.
template <class Method>
std::vector<Entrant> make_entrants(const Arguments& arguments,
                                   Choice<Method> mpi::CommSettings::*setting) {
  std::vector<std::string> names = Method::family().names();
  names.push_back("automatic");
  std::vector<Entrant> entrants;
  for (const std::string& name : names) {
    mpi::CommSettings settings;
    settings.*setting = name;
    entrants.push_back({name, make_comm(arguments.ranks_per_node, settings)});
  }
  return entrants;
}

/// One call by MPI's own algorithm and one by the communicator's.
struct Operation {
  std::string title;
  std::function<void(MPI_Comm)> by_mpi;
  std::function<void(const mpi::Comm&)> by_library;
  Messages usual;  ///< of MPI, which tells nobody; see the functions below
};

void call(const Operation& operation, const Entrant& entrant) {
  if (entrant.algorithm == "mpi") return operation.by_mpi(entrant.comm->get());
  operation.by_library(*entrant.comm);
}

/// Collective. MPI's clock, which a simulator provides too.
double microseconds(const Operation& operation, const Entrant& entrant, int times) {
  mpi::check(MPI_Barrier(entrant.comm->get()), "MPI_Barrier");
  const double start = MPI_Wtime();
  for (int k = 0; k < times; ++k) call(operation, entrant);
  return 1e6 * mpi::max(*entrant.comm, MPI_Wtime() - start) / times;
}

std::int64_t off_node_so_far(const mpi::Comm& comm) {
  std::int64_t n = 0;
  for (const mpi::Account& account : comm.ledger().accounts()) {
    n += account.counts.messages_off_node;
  }
  return n;
}

Messages over_all_ranks(const mpi::Comm& comm, std::int64_t mine) {
  return {mpi::sum(comm, mine), mpi::max(comm, mine)};
}

void count(const Operation& operation, Entrant& entrant) {
  const std::int64_t before = off_node_so_far(*entrant.comm);
  call(operation, entrant);  // warms up, too
  const std::int64_t mine = off_node_so_far(*entrant.comm) - before;
  entrant.messages =
      entrant.algorithm == "mpi" ? operation.usual : over_all_ranks(*entrant.comm, mine);
}

/// Collective. What recursive doubling sends, in which ranks beyond a power of two hand over to a
/// partner first and get the result from it.
Messages of_recursive_doubling(const mpi::Comm& comm) {
  int power = 1;
  while (2 * power <= comm.size()) power *= 2;
  const int me = comm.rank();
  std::int64_t mine = 0;
  const auto send = [&](int to) {
    if (to < comm.size()) mine += comm.topology().node(to) != comm.topology().node(me) ? 1 : 0;
  };
  if (me >= power) send(me - power);
  if (me < power) send(me + power);
  for (int bit = 1; me < power && bit < power; bit *= 2) send(me ^ bit);
  return over_all_ranks(comm, mine);
}

/// Collective. One message for each pair of ranks.
Messages of_pairs(const mpi::Comm& comm) {
  const mpi::Topology& topology = comm.topology();
  const auto near = std::ssize(topology.ranks_on(topology.node(comm.rank())));
  return over_all_ranks(comm, comm.size() - near);
}

void print(const Operation& operation, const std::vector<Entrant>& entrants) {
  for (const Entrant& e : entrants) {
    const char* const about = e.algorithm == "mpi" ? "~" : "";
    std::cout << fmt::format("| {} | {} | {}{} | {}{} | {} | {} |\n", operation.title, e.name(),
                             about, e.messages.all, about, e.messages.busiest,
                             to_text(spread(e.us), 1),
                             to_text(spread(ratios(entrants.front().us, e.us)), 2));
  }
  std::cout << std::flush;
}

void measure(const Operation& operation, std::vector<Entrant> entrants,
             const Arguments& arguments) {
  for (Entrant& entrant : entrants) count(operation, entrant);
  const std::size_t n = entrants.size();
  for (int repeat = 0; repeat < arguments.repeats; ++repeat) {
    for (std::size_t k = 0; k < n; ++k) {  // in each repeat in another order
      Entrant& entrant = entrants[(k + static_cast<std::size_t>(repeat)) % n];
      entrant.us.push_back(microseconds(operation, entrant, arguments.calls));
    }
  }
  if (entrants.front().comm->is_root()) print(operation, entrants);
}

Operation allreduce_of(const mpi::Comm& comm, int n) {
  const auto values = std::make_shared<std::vector<double>>(static_cast<std::size_t>(n), 1.0);
  const auto sums = std::make_shared<std::vector<double>>(static_cast<std::size_t>(n));
  return {std::to_string(n),
          [=](MPI_Comm c) {
            mpi::check(MPI_Allreduce(values->data(), sums->data(), n, MPI_DOUBLE, MPI_SUM, c),
                       "MPI_Allreduce");
          },
          [=](const mpi::Comm& c) {
            mpi::collectives::allreduce(c, values->data(), sums->data(), n, MPI_DOUBLE, MPI_SUM);
          },
          of_recursive_doubling(comm)};
}

Operation allgather_of(const mpi::Comm& comm, int n) {
  const auto mine = std::make_shared<std::vector<double>>(static_cast<std::size_t>(n), 1.0);
  const auto all =
      std::make_shared<std::vector<double>>(mine->size() * static_cast<std::size_t>(comm.size()));
  return {std::to_string(n),
          [=](MPI_Comm c) {
            mpi::check(MPI_Allgather(mine->data(), n, MPI_DOUBLE, all->data(), n, MPI_DOUBLE, c),
                       "MPI_Allgather");
          },
          [=](const mpi::Comm& c) {
            mpi::collectives::allgather(c, mine->data(), n, MPI_DOUBLE, all->data(), n, MPI_DOUBLE);
          },
          of_recursive_doubling(comm)};
}

/// The arrays of an alltoallv of n items for every pair of ranks.
struct Blocks {
  Blocks(int size, int n)
      : send(static_cast<std::size_t>(size) * static_cast<std::size_t>(n)), receive(send.size()) {
    for (int r = 0; r < size; ++r) {
      counts.push_back(n);
      starts.push_back(r * n);
    }
    long_counts.assign(counts.begin(), counts.end());
    long_starts.assign(starts.begin(), starts.end());
  }

  std::vector<double> send, receive;
  std::vector<int> counts, starts;
  std::vector<Offset> long_counts, long_starts;
};

Operation alltoallv_of(const mpi::Comm& comm, int n) {
  const auto b = std::make_shared<Blocks>(comm.size(), n);
  return {std::to_string(n),
          [=](MPI_Comm c) {
            mpi::check(
                MPI_Alltoallv(b->send.data(), b->counts.data(), b->starts.data(), MPI_DOUBLE,
                              b->receive.data(), b->counts.data(), b->starts.data(), MPI_DOUBLE, c),
                "MPI_Alltoallv");
          },
          [=](const mpi::Comm& c) {
            const mpi::collectives::Side side{b->long_counts, b->long_starts, MPI_DOUBLE};
            mpi::collectives::alltoallv(c, b->send.data(), side, b->receive.data(), side);
          },
          of_pairs(comm)};
}

void print_head(const mpi::Comm& comm, const std::string& title, const std::string& unit) {
  if (!comm.is_root()) return;
  std::cout << fmt::format(
      "\n#### {}, {} ranks on {} nodes\n\n"
      "| {} | algorithm | messages between nodes | of the busiest rank | us | MPI / this |\n"
      "|---|---|---|---|---|---|\n",
      title, comm.size(), comm.topology().n_nodes(), unit);
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> owner = make_comm(arguments.ranks_per_node, {});
  const mpi::Comm& comm = *owner;
  if (comm.is_root()) {
    std::cout << fmt::format(
        "Medians of {} samples of {} calls each (least..most), in turns; ratios within a turn. "
        "MPI tells nobody what it sends: ~ is what recursive doubling would, and for alltoallv "
        "one message a pair of ranks. The library's calls include the check of arguments, which is "
        "all that is "
        "counted where automatic takes MPI's algorithm.\n",
        arguments.repeats, arguments.calls);
  }
  print_head(comm, "Allreduce", "doubles");
  const auto reductions = make_entrants(arguments, &mpi::CommSettings::allreduce);
  for (const int n : arguments.reduced) measure(allreduce_of(comm, n), reductions, arguments);
  print_head(comm, "Allgather", "doubles of a rank");
  const auto gatherings = make_entrants(arguments, &mpi::CommSettings::allgather);
  for (const int n : arguments.gathered) measure(allgather_of(comm, n), gatherings, arguments);
  print_head(comm, "Alltoallv", "doubles of a pair of ranks");
  const auto exchanges = make_entrants(arguments, &mpi::CommSettings::alltoallv);
  for (const int n : arguments.exchanged) measure(alltoallv_of(comm, n), exchanges, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare MPI's own collectives with the library's; prints Markdown.");
  app.add_option("--allreduce", arguments.reduced, "doubles, one or more lengths")
      ->check(CLI::PositiveNumber);
  app.add_option("--allgather", arguments.gathered, "doubles of each rank, one or more lengths")
      ->check(CLI::PositiveNumber);
  app.add_option("--alltoallv", arguments.exchanged, "doubles of each pair, one or more lengths")
      ->check(CLI::PositiveNumber);
  app.add_option("--repeats", arguments.repeats, "samples of each")->check(CLI::PositiveNumber);
  app.add_option("--calls", arguments.calls, "in one sample")->check(CLI::PositiveNumber);
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
