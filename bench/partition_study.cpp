// What partitions and routes make of products, for virtual ranks: messages and bytes, what they
// cost on a machine by its file, and after how many products a partition pays. As figures 5.12 to
// 5.14 of Bienz 2018. A line of JSON for each matrix, number of ranks and partition; counts are
// exact, the time of a partition is that of one core here. scripts/partition-plot reads them.
//   nodewise_bench_partition_study --matrix A.mtx --ranks 64,4096 --nonzeros-per-rank 50000
#include <algorithm>
#include <iostream>
#include <numeric>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/base/timer.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/partition/part_order.hpp"
#include "nodewise/partition/partition_method.hpp"

#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using bench::Matrix;

struct Arguments {
  int ranks_per_node = 16, unknowns = 1, least_rows = 4;
  std::string machine = "blue-waters";
  std::vector<int> ranks = {64, 256, 1024, 4096};
  std::vector<int> nonzeros_per_rank = {500'000, 200'000, 100'000, 50'000};
  std::vector<std::string> partitions = {"contiguous", "strided", "ptscotch", "node_aware"};
  std::vector<std::string> problems, matrices;
};

/// The numbers of ranks to look at: whole nodes, two at least.
std::vector<int> numbers_of_ranks(const Matrix& A, const Arguments& arguments) {
  std::vector<int> all = arguments.ranks;
  for (const int nonzeros : arguments.nonzeros_per_rank) {
    const auto per_node = static_cast<double>(arguments.ranks_per_node);
    const double nodes = static_cast<double>(A.nnz_global()) / nonzeros / per_node;
    all.push_back(static_cast<int>(std::lround(nodes) * arguments.ranks_per_node));
  }
  std::erase_if(all, [&](int n) {
    return n < 2 * arguments.ranks_per_node || n * arguments.least_rows > A.rows().n_global();
  });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

mpi::Topology nodes_of(int n_ranks, int per_node) {
  std::vector<int> nodes;
  for (int r = 0; r < n_ranks; ++r) nodes.push_back(r / per_node);
  return mpi::Topology(nodes);
}

/// What all ranks send between nodes over a route, and what it costs.
std::string route_json(std::span<const comm::Pattern> patterns, const mpi::Topology& topology,
                       const comm::Route& route, const model::Machine& machine) {
  const auto plans = comm::virtual_plans(patterns, topology, route);
  std::int64_t messages = 0, bytes = 0, most = 0, most_bytes = 0;
  for (const comm::Traffic& traffic : comm::virtual_traffic(plans, topology)) {
    const auto sent = static_cast<std::int64_t>(sizeof(double)) * traffic.entries_off_node;
    messages += traffic.messages_off_node;
    bytes += sent;
    most = std::max(most, traffic.messages_off_node);
    most_bytes = std::max(most_bytes, sent);
  }
  return fmt::format(
      "\"{}\": {{\"messages\": {}, \"bytes\": {}, \"most_messages\": {}, \"most_bytes\": {}, "
      "\"product_s\": {:.4e}}}",
      route.name(), messages, bytes, most, most_bytes,
      model::forward_cost(plans, topology, machine).total());
}

/// Seconds to bring the rows from ranks that have successive ones to their owners: two numbers for
/// each nonzero, each message at the machine's costs.
double moving_s(const Matrix& A, const mpi::Topology& topology, std::span<const int> owners,
                const model::Machine& machine) {
  const auto n_ranks = static_cast<std::size_t>(topology.n_ranks());
  const std::size_t n = owners.size();
  model::ExchangeTally tally(machine, topology);
  std::vector<double> bytes(n_ranks);
  for (std::size_t r = 0; r < n_ranks; ++r) {
    std::fill(bytes.begin(), bytes.end(), 0);
    for (std::size_t i = n * r / n_ranks; i < n * (r + 1) / n_ranks; ++i) {
      bytes[static_cast<std::size_t>(owners[i])] +=
          8 + 16 * static_cast<double>(A.row_length(static_cast<LocalIndex>(i)));
    }
    for (std::size_t to = 0; to < n_ranks; ++to) {
      if (to == r || bytes[to] == 0) continue;
      tally.add(0, static_cast<int>(r), static_cast<int>(to), bytes[to]);
    }
  }
  return tally.total().total();
}

void study(const std::string& name, const Matrix& A, int n_ranks, const std::string& partition,
           const Arguments& arguments, const model::Machine& machine) {
  const mpi::Topology topology = nodes_of(n_ranks, arguments.ranks_per_node);
  const Timer timer;
  const std::vector<int> owners = partition::owners(partition, {A, topology, arguments.unknowns});
  const double partition_s = timer.seconds();
  const partition::PartOrder order = partition::order_of_parts(owners, n_ranks);
  const Matrix placed = partition::in_order(A, order);
  double most = 0;
  for (std::size_t r = 0; r + 1 < order.starts.size(); ++r) {
    const auto begin = static_cast<std::size_t>(order.starts[r]);
    const auto end = static_cast<std::size_t>(order.starts[r + 1]);
    const auto nonzeros = placed.on().row_ptr[end] - placed.on().row_ptr[begin];
    most = std::max(most, static_cast<double>(nonzeros));
  }
  const auto patterns = comm::virtual_patterns(
      order.starts, matrix::virtual_ghosts(placed.on(), order.starts, order.starts));
  std::vector<std::string> routes;
  for (const char* route : {"direct", "two_step", "three_step"}) {
    routes.push_back(route_json(patterns, topology, comm::Route(route), machine));
  }
  const double mean = static_cast<double>(A.nnz_global()) / n_ranks;
  std::cout << fmt::format(
                   "{{\"matrix\": \"{}\", \"rows\": {}, \"nonzeros\": {}, \"ranks\": {}, "
                   "\"nodes\": {}, \"partition\": \"{}\", \"partition_s\": {:.3f}, \"moving_s\": "
                   "{:.3e}, \"imbalance\": {:.2f}, \"routes\": {{{}}}}}",
                   name, A.rows().n_global(), A.nnz_global(), n_ranks, topology.n_nodes(),
                   partition, partition_s, moving_s(A, topology, owners, machine), most / mean,
                   fmt::join(routes, ", "))
            << std::endl;
}

void study_all(const std::string& name, const Matrix& A, const Arguments& arguments) {
  const model::Machine machine = io::find_machine(arguments.machine);
  for (const int n_ranks : numbers_of_ranks(A, arguments)) {
    for (const std::string& partition : arguments.partitions) {
      study(name, A, n_ranks, partition, arguments, machine);
    }
  }
}

void run(const Arguments& arguments) {
  const auto comm = mpi::Comm::create(MPI_COMM_SELF);
  for (const std::string& problem : arguments.problems) {
    study_all(problem, *bench::make_matrix(comm, bench::parse_problem(problem)), arguments);
  }
  for (const std::string& file : arguments.matrices) {
    const std::string name = file.substr(file.rfind('/') + 1);
    study_all(name.substr(0, name.find('.')), io::read_matrix<double>(comm, file), arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What partitions and routes make of products, for virtual ranks");
  app.add_option("--ranks", arguments.ranks, "numbers of ranks")->delimiter(',');
  app.add_option("--nonzeros-per-rank", arguments.nonzeros_per_rank, "and as many as have so many")
      ->delimiter(',');
  app.add_option("--ranks-per-node", arguments.ranks_per_node);
  app.add_option("--least-rows", arguments.least_rows, "of a rank, on average");
  app.add_option("--unknowns", arguments.unknowns, "rows of a point");
  app.add_option("--machine", arguments.machine, "a machine file, or a name");
  app.add_option("--partition", arguments.partitions, "those to look at")->delimiter(',');
  app.add_option("--problem", arguments.problems, "name:n");
  app.add_option("--matrix", arguments.matrices, "files");
  return bench::run_program(app, argc, argv, [&] { run(arguments); });
}
