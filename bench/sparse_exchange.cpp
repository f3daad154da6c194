// The algorithms of the sparse dynamic data exchange side by side: on random patterns, or on those
// of matrices, where every rank sends to the owners of the columns it has entries in, by `constant`
// the number of these columns (4 bytes), by `variable` the columns themselves (4 bytes each). A
// Markdown table each, or with --json a line of JSON for each algorithm; --output writes it to a
// file, since a simulator may lose what is printed last.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/sdde/choice.hpp"
#include "nodewise/comm/sdde/sdde.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/mpi/ledger.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<int> messages = {1, 4, 16, 64};
  std::vector<int> bytes = {8, 1024, 16384};
  std::vector<std::string> problems, matrices;
  std::vector<std::string> kinds = {"constant", "variable"};
  int repeats = 9;
  int exchanges = 3;  ///< of one sample
  int ranks_per_node = 0;
  bool json = false;
  std::string output;
};

/// What this rank sends, ascending.
struct Sends {
  std::string name;  ///< of the pattern
  std::vector<int> destinations;
  std::vector<Offset> offsets = {0};  ///< in bytes
  std::vector<std::byte> data = {};
  std::optional<Offset> bytes_each = {};  ///< where messages are of one size

  void add(int to, Offset bytes) {
    destinations.push_back(to);
    offsets.push_back(offsets.back() + bytes);
    data.resize(static_cast<std::size_t>(offsets.back()));
  }
};

/// Different random ranks, at most as many as there are others, all messages of one size.
Sends random_sends(const mpi::Comm& comm, int messages, int bytes) {
  std::vector<std::pair<std::uint64_t, int>> drawn;
  for (int to = 0; to < comm.size(); ++to) {
    if (to == comm.rank()) continue;
    drawn.emplace_back(hash64(static_cast<std::uint64_t>(to), comm.rank()), to);
  }
  const std::size_t n = std::min(drawn.size(), static_cast<std::size_t>(messages));
  std::partial_sort(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(n), drawn.end());
  std::vector<int> to;
  for (std::size_t i = 0; i < n; ++i) to.push_back(drawn[i].second);
  std::sort(to.begin(), to.end());
  Sends sends{fmt::format("{} messages a rank, {} bytes each", n, bytes), {}};
  sends.bytes_each = bytes;
  for (const int rank : to) sends.add(rank, bytes);
  return sends;
}

/// To the owner of each column that this rank has entries in and does not own.
Sends sends_of(const std::string& name, const Matrix& A, const std::string& kind) {
  constexpr Offset int_bytes = 4;
  std::vector<std::pair<int, Offset>> columns;
  for (const GlobalIndex column : A.ghosts()) {  // ascending
    const int owner = A.cols().owner(column);
    if (columns.empty() || columns.back().first != owner) columns.push_back({owner, 0});
    ++columns.back().second;
  }
  Sends sends{name + ", " + kind, {}};
  if (kind == "constant") sends.bytes_each = int_bytes;
  for (const auto& [owner, n] : columns) {
    sends.add(owner, sends.bytes_each.value_or(n * int_bytes));
  }
  return sends;
}

struct Entrant {
  std::string name;
  comm::SparseOptions options;
  std::int64_t messages_off_node = 0;
  std::int64_t busiest = 0;  ///< the most of a rank
  std::vector<double> ms = {};
};

/// Returns how many messages arrived.
Offset exchange(const mpi::Comm& comm, const Sends& sends, const comm::SparseOptions& options) {
  const std::span<const std::byte> data(sends.data);
  if (!sends.bytes_each) {
    return static_cast<Offset>(
        comm::alltoallv_crs(comm, sends.destinations, sends.offsets, data, options).size());
  }
  const auto got = comm::alltoall_crs(comm, sends.destinations, *sends.bytes_each, data, options);
  return std::ssize(got.ranks);
}

/// Collective. MPI's clock, which a simulator provides too.
double milliseconds(const mpi::Comm& comm, const Sends& sends, const Entrant& entrant, int times) {
  mpi::check(MPI_Barrier(comm.get()), "MPI_Barrier");
  const double start = MPI_Wtime();
  for (int k = 0; k < times; ++k) exchange(comm, sends, entrant.options);
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
  exchange(comm, sends, entrant.options);
  const std::int64_t mine = off_node_so_far(comm) - before;
  entrant.messages_off_node = mpi::sum(comm, mine);
  entrant.busiest = mpi::max(comm, mine);
}

/// Every algorithm for such messages, `automatic`, and where ranks know how many come.
std::vector<Entrant> entrants_for(const mpi::Comm& comm, const Sends& sends) {
  std::vector<Entrant> entrants;
  for (const mpi::SparseExchangeMethod& method : mpi::SparseExchangeMethod::family()) {
    if (method.needs_equal_counts && !sends.bytes_each) continue;
    entrants.push_back({method.name, {.algorithm = mpi::SparseExchange(method)}});
    entrants.back().options.keep_window = method.needs_equal_counts;
  }
  entrants.push_back({"automatic", {.algorithm = "automatic"}});
  const Offset n = exchange(comm, sends, {});
  entrants.push_back({"known_number", {.algorithm = "personalized", .n_receives = n}});
  return entrants;
}

std::vector<Entrant> measure(const mpi::Comm& comm, const Sends& sends,
                             const Arguments& arguments) {
  std::vector<Entrant> entrants = entrants_for(comm, sends);
  for (Entrant& entrant : entrants) count(comm, sends, entrant);  // warms up, too
  const std::size_t n = entrants.size();
  for (int repeat = 0; repeat < arguments.repeats; ++repeat) {
    for (std::size_t k = 0; k < n; ++k) {  // in each repeat in another order
      Entrant& entrant = entrants[(k + static_cast<std::size_t>(repeat)) % n];
      entrant.ms.push_back(milliseconds(comm, sends, entrant, arguments.exchanges));
    }
  }
  return entrants;
}

void print_table(std::ostream& out, const std::string& pattern, const std::string& choice,
                 std::span<const Entrant> entrants) {
  const auto base = std::ranges::find(entrants, "nonblocking", &Entrant::name);
  out << fmt::format("#### {}\n\n{}\n", pattern, choice)
      << "| algorithm | off-node messages | of the busiest rank | exchange, ms | "
         "nonblocking / this |\n|---|---|---|---|---|\n";
  for (const Entrant& e : entrants) {
    out << fmt::format("| {} | {} | {} | {} | {} |\n", e.name, e.messages_off_node, e.busiest,
                       to_text(spread(e.ms), 3), to_text(spread(ratios(base->ms, e.ms)), 2));
  }
  out << "\n" << std::flush;
}

void print_json(std::ostream& out, const std::string& pattern, const mpi::Topology& topology,
                std::span<const Entrant> entrants) {
  for (const Entrant& e : entrants) {
    out << fmt::format(
               "{{\"pattern\": \"{}\", \"nodes\": {}, \"ranks\": {}, \"algorithm\": \"{}\", "
               "\"messages\": {}, \"most_messages\": {}, \"ms\": [{:.4g}]}}",
               pattern, topology.n_nodes(), topology.n_ranks(), e.name, e.messages_off_node,
               e.busiest, fmt::join(e.ms, ", "))
        << std::endl;
  }
}

void compare(const mpi::Comm& comm, const Sends& sends, const Arguments& arguments) {
  std::vector<Offset> bytes;
  for (std::size_t i = 0; i < sends.destinations.size(); ++i) {
    bytes.push_back(sends.offsets[i + 1] - sends.offsets[i]);
  }
  const std::string choice = comm::explain_choice(comm, sends.destinations, bytes);
  const std::vector<Entrant> entrants = measure(comm, sends, arguments);
  if (!comm.is_root()) return;
  std::ofstream file;
  if (!arguments.output.empty()) file.open(arguments.output, std::ios::app);
  std::ostream& out = arguments.output.empty() ? std::cout : file;
  if (arguments.json) {
    print_json(out, sends.name, comm.topology(), entrants);
  } else {
    print_table(out, sends.name, choice, entrants);
  }
  if (!out) throw Error(ErrorCode::file_io, "cannot write to '" + arguments.output + "'");
}

void compare_kinds(const std::string& name, const Matrix& A, const Arguments& arguments) {
  for (const std::string& kind : arguments.kinds) {
    compare(A.comm(), sends_of(name, A, kind), arguments);
  }
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = make_comm(arguments.ranks_per_node);
  for (const std::string& problem : arguments.problems) {
    compare_kinds(problem, *make_matrix(comm, parse_problem(problem)), arguments);
  }
  for (const std::string& file : arguments.matrices) {
    const std::string name = file.substr(file.find_last_of('/') + 1);
    compare_kinds(name.substr(0, name.find('.')), io::read_matrix<double>(comm, file), arguments);
  }
  if (!arguments.problems.empty() || !arguments.matrices.empty()) return;
  for (const int messages : arguments.messages) {
    for (const int bytes : arguments.bytes) {
      compare(*comm, random_sends(*comm, messages, bytes), arguments);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare the algorithms of the sparse dynamic data exchange.");
  app.add_option("--messages", arguments.messages, "random destinations of each rank, one or more");
  app.add_option("--bytes", arguments.bytes, "of each message, one or more");
  app.add_option("--problem", arguments.problems, "model problems in their place, name:n");
  app.add_option("--matrix", arguments.matrices, "Matrix Market files likewise");
  app.add_option("--kind", arguments.kinds, "of messages for these: constant, variable")
      ->delimiter(',')
      ->check(CLI::IsMember({"constant", "variable"}));
  app.add_option("--repeats", arguments.repeats, "samples of each")->check(CLI::PositiveNumber);
  app.add_option("--exchanges", arguments.exchanges, "in one sample")->check(CLI::PositiveNumber);
  app.add_option("--output", arguments.output,
                 "file that is added to, in place of standard output");
  app.add_flag("--json", arguments.json, "lines of JSON in place of tables");
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
