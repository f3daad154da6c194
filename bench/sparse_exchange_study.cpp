// What the algorithms of the sparse dynamic data exchange send for the patterns of matrices on many
// virtual ranks, and what that costs on a machine by its file: as figures 5 to 10 of Geyko, Collom,
// Schafer, Bridges, Bienz 2024. Rows are dealt out evenly, in the order of the file or
// (`--strided`) in turn, as by an order that knows nothing of the matrix. A rank sends to every
// owner of a column it has entries in, by `constant` the number of these columns (4 bytes), by
// `variable` the columns themselves (4 bytes each). A line of JSON for each matrix, number of
// nodes, kind and algorithm.
//   nodewise_bench_sparse_exchange_study --matrix A.mtx --problem laplace27:36 --nodes 2,64
#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nodewise/comm/sdde/choice.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/model/sparse_exchange_cost.hpp"
#include "nodewise/partition/part_order.hpp"
#include "nodewise/partition/partition_method.hpp"
#include "nodewise/predict/exchange_times.hpp"
#include "nodewise/predict/sparse_exchange_messages.hpp"

#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using bench::Matrix;

constexpr std::int64_t int_bytes = 4;

struct Arguments {
  int ranks_per_node = 32;
  bool only_counts = false, strided = false;
  std::string machine = "blue-waters";
  std::vector<int> nodes = {2, 4, 8, 16, 32, 64};
  std::vector<std::string> kinds = {"constant", "variable"};
  std::vector<std::string> problems, matrices;
};

/// A matrix by virtual ranks, whose rows begin at `starts`.
struct Dealt {
  Matrix A;
  std::vector<GlobalIndex> starts;
};

/// As a program has them that reads the matrix, or by turns.
Dealt deal_out(const Matrix& A, const mpi::Topology& topology, bool strided) {
  const int n_ranks = topology.n_ranks();
  if (!strided) return {A, comm::uniform_starts(A.rows().n_global(), n_ranks)};
  const auto owners = partition::owners("strided", {A, topology, 1});
  const partition::PartOrder order = partition::order_of_parts(owners, n_ranks);
  return {partition::in_order(A, order), order.starts};
}

/// To the owner of each column that a rank has entries in and does not own.
predict::SparseSends sends_of(const Matrix& matrix, const mpi::Topology& topology, bool strided) {
  const auto [A, starts] = deal_out(matrix, topology, strided);
  const auto ghosts = matrix::virtual_ghosts(A.on(), starts, starts);
  predict::SparseSends sends;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    auto& mine = sends.emplace_back();
    int owner = 0;
    for (const GlobalIndex column : ghosts[r]) {  // ascending
      while (starts[static_cast<std::size_t>(owner) + 1] <= column) ++owner;
      if (mine.empty() || mine.back().to != owner) mine.push_back({owner, 0});
      mine.back().bytes += int_bytes;
    }
  }
  return sends;
}

/// One number for each destination.
predict::SparseSends counts_only(predict::SparseSends sends) {
  for (auto& of_rank : sends) {
    for (model::SentMessage& message : of_rank) message.bytes = int_bytes;
  }
  return sends;
}

struct Counts {
  std::int64_t messages_off_node = 0, bytes_off_node = 0, most_off_node = 0;
};

Counts counts_of(const predict::SparseExchangeMessages& messages, const mpi::Topology& topology) {
  Counts counts;
  std::vector<std::int64_t> of_rank(static_cast<std::size_t>(topology.n_ranks()));
  for (const std::size_t s : messages.of_data) {
    for (std::size_t r = 0; r < of_rank.size(); ++r) {
      for (const model::SentMessage& m : messages.stages[s][r]) {
        if (topology.same_node(static_cast<int>(r), m.to)) continue;
        counts.messages_off_node += 1;
        counts.bytes_off_node += m.bytes;
        counts.most_off_node = std::max(counts.most_off_node, ++of_rank[r]);
      }
    }
  }
  return counts;
}

/// What `automatic` weighs for these messages.
comm::SparseLoad load_of(const predict::SparseSends& sends, const mpi::Topology& topology) {
  comm::SparseLoad most;
  for (std::size_t r = 0; r < sends.size(); ++r) {
    std::vector<int> to;
    std::vector<Offset> bytes;
    for (const model::SentMessage& m : sends[r]) {
      to.push_back(m.to);
      bytes.push_back(m.bytes);
    }
    const auto load = comm::load_of_rank(topology, static_cast<int>(r), to, bytes);
    most.messages = std::max(most.messages, load.messages);
    most.messages_leaving = std::max(most.messages_leaving, load.messages_leaving);
    most.regions = std::max(most.regions, load.regions);
    most.bytes_leaving = std::max(most.bytes_leaving, load.bytes_leaving);
  }
  return most;
}

std::string times_json(const predict::ExchangeTimer& timer, const model::MessageStages& stages) {
  const predict::ExchangeTime time = timer.time(stages);
  return fmt::format(
      ", \"formula_s\": {:.4e}, \"queue_s\": {:.4e}, \"simulated_s\": {:.4e}, \"low_s\": {:.4e}, "
      "\"high_s\": {:.4e}",
      time.formula.total(), time.formula.queue_s, time.simulated.front(), time.low(), time.high());
}

void study(const std::string& name, const Matrix& A, int n_nodes, const Arguments& arguments,
           const model::Machine& machine) {
  const int n_ranks = n_nodes * arguments.ranks_per_node;
  std::vector<int> nodes;
  for (int r = 0; r < n_ranks; ++r) nodes.push_back(r / arguments.ranks_per_node);
  const mpi::Topology topology(nodes);
  const predict::ExchangeTimer timer(machine, topology, model::usual_arrival);
  const predict::SparseSends columns = sends_of(A, topology, arguments.strided);
  for (const std::string& kind : arguments.kinds) {
    const bool constant = kind == "constant";
    const predict::SparseSends sends = constant ? counts_only(columns) : columns;
    const comm::SparseLoad load = load_of(sends, topology);
    const auto choice = [&](const mpi::SparseCosts& costs) {
      return comm::choose_sparse_exchange(topology, load, costs).algorithm.name();
    };
    const std::string chosen = choice(model::sparse_costs(machine, topology, mpi::Region::node));
    for (const std::string_view algorithm : predict::sparse_exchanges(constant)) {
      const auto messages = predict::sparse_exchange_messages(algorithm, topology, sends);
      const Counts counts = counts_of(messages, topology);
      std::cout << fmt::format(
                       "{{\"matrix\": \"{}\", \"rows\": {}, \"nonzeros\": {}, \"nodes\": {}, "
                       "\"ranks\": {}, \"kind\": \"{}\", \"algorithm\": \"{}\", \"automatic\": "
                       "\"{}\", \"without_machine\": \"{}\", \"leaving\": {}, \"regions\": {}, "
                       "\"leaving_bytes\": {}, \"messages\": {}, \"bytes\": {}, \"most_messages\": "
                       "{}{}}}",
                       name, A.rows().n_global(), A.nnz_global(), n_nodes, n_ranks, kind, algorithm,
                       chosen, choice({}), load.messages_leaving, load.regions, load.bytes_leaving,
                       counts.messages_off_node, counts.bytes_off_node, counts.most_off_node,
                       arguments.only_counts ? "" : times_json(timer, messages.stages))
                << std::endl;
    }
  }
}

void study_all(const std::string& name, const Matrix& A, const Arguments& arguments) {
  const model::Machine machine = io::find_machine(arguments.machine);
  for (const int nodes : arguments.nodes) {
    if (nodes * arguments.ranks_per_node > A.rows().n_global()) continue;
    study(name, A, nodes, arguments, machine);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("The algorithms of the sparse exchange for patterns of matrices on virtual ranks");
  app.add_option("--problem", arguments.problems, "model problems, name:n");
  app.add_option("--matrix", arguments.matrices, "Matrix Market files");
  app.add_option("--nodes", arguments.nodes, "numbers of nodes")->delimiter(',');
  app.add_option("--ranks-per-node", arguments.ranks_per_node)->check(CLI::PositiveNumber);
  app.add_option("--kind", arguments.kinds, "constant, variable")
      ->delimiter(',')
      ->check(CLI::IsMember({"constant", "variable"}));
  app.add_option("--machine", arguments.machine, "a machine file, or the name of one");
  app.add_flag("--strided", arguments.strided, "row r on rank r mod P");
  app.add_flag("--only-counts", arguments.only_counts, "no times");
  return bench::run_program(app, argc, argv, [&] {
    const auto comm = bench::make_comm(0);
    if (comm->size() > 1) throw Error(ErrorCode::invalid_argument, "ranks are virtual: run one");
    for (const std::string& problem : arguments.problems) {
      study_all(problem, *bench::make_matrix(comm, bench::parse_problem(problem)), arguments);
    }
    for (const std::string& file : arguments.matrices) {
      const std::string name = file.substr(file.find_last_of('/') + 1);
      study_all(name.substr(0, name.find('.')), io::read_matrix<double>(comm, file), arguments);
    }
  });
}
