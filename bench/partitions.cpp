// What partitions make of matrices, for virtual ranks: how many values cross between nodes and
// ranks in a product, and how even the parts are. Counts are exact; the time is that of one rank.
//   nodewise_bench_partitions --nodes 8 --ranks-per-node 16 --problem laplace7:64 --matrix A.mtx
#include <algorithm>
#include <iostream>
#include <numeric>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nodewise/base/timer.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/partition/partition_method.hpp"
#include "nodewise/partition/point_graph.hpp"

#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using bench::Matrix;

struct Arguments {
  int nodes = 8, ranks_per_node = 16, unknowns = 1;
  std::vector<std::string> problems, matrices;
};

mpi::Topology topology_of(const Arguments& arguments) {
  std::vector<int> nodes;
  for (int r = 0; r < arguments.nodes * arguments.ranks_per_node; ++r) {
    nodes.push_back(r / arguments.ranks_per_node);
  }
  return mpi::Topology(nodes);
}

void compare(const std::string& name, const Matrix& A, const Arguments& arguments) {
  const mpi::Topology topology = topology_of(arguments);
  const partition::PointGraph graph = partition::point_graph(A.on(), arguments.unknowns);
  std::cout << fmt::format(
      "#### {}: {} rows, {} nonzeros; {} ranks on {} nodes\n\n"
      "| partition | values between nodes | between ranks | largest / mean nonzeros | s |\n"
      "|---|---|---|---|---|\n",
      name, A.rows().n_global(), A.nnz_global(), topology.n_ranks(), topology.n_nodes());
  for (const partition::PartitionMethod& method : partition::PartitionMethod::family()) {
    if (!*method.moves_rows || *method.name == "file") continue;  // nothing to compare
    const Timer timer;
    const std::vector<int> of_rows = partition::owners(method, {A, topology, arguments.unknowns});
    const double seconds = timer.seconds();
    std::vector<int> owners, nodes;
    std::vector<double> nonzeros(static_cast<std::size_t>(topology.n_ranks()), 0);
    for (std::size_t k = 0; k < graph.weights.size(); ++k) {
      owners.push_back(of_rows[k * static_cast<std::size_t>(arguments.unknowns)]);
      nodes.push_back(topology.node(owners.back()));
      nonzeros[static_cast<std::size_t>(owners.back())] += static_cast<double>(graph.weights[k]);
    }
    const double mean = static_cast<double>(A.nnz_global()) / topology.n_ranks();
    std::cout << fmt::format("| {} | {} | {} | {:.2f} | {:.2f} |\n", *method.name,
                             partition::values_between_nodes(graph, nodes),
                             partition::values_between_nodes(graph, owners),
                             *std::max_element(nonzeros.begin(), nonzeros.end()) / mean, seconds);
  }
  std::cout << std::endl;
}

void run(const Arguments& arguments) {
  const auto comm = mpi::Comm::create(MPI_COMM_SELF);
  for (const std::string& problem : arguments.problems) {
    compare(problem, *bench::make_matrix(comm, bench::parse_problem(problem)), arguments);
  }
  for (const std::string& file : arguments.matrices) {
    compare(file.substr(file.rfind('/') + 1), io::read_matrix<double>(comm, file), arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What partitions make of matrices, for virtual ranks");
  app.add_option("--nodes", arguments.nodes);
  app.add_option("--ranks-per-node", arguments.ranks_per_node);
  app.add_option("--unknowns", arguments.unknowns, "rows of a point");
  app.add_option("--problem", arguments.problems, "name:n");
  app.add_option("--matrix", arguments.matrices, "files");
  return bench::run_program(app, argc, argv, [&] { run(arguments); });
}
