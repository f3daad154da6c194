// What the algorithms of allreduce, allgather and alltoall send on many virtual ranks, and what
// that costs on a machine by its file: as the slides of Bienz on locality-aware collectives. A line
// of JSON for each collective, number of nodes, length and algorithm.
//   nodewise_bench_collective_study --nodes 2,1024 --allreduce 8,1048576 --allgather 8
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nodewise/io/machine_file.hpp"
#include "nodewise/predict/collective_messages.hpp"
#include "nodewise/predict/exchange_times.hpp"

#include "program.hpp"

namespace {

using namespace nodewise;

struct Arguments {
  int ranks_per_node = 16;
  std::string machine = "blue-waters";
  std::vector<int> nodes = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  std::vector<std::int64_t> reduced, gathered;  ///< bytes, of each rank
  std::vector<std::int64_t> exchanged;          ///< of each pair of ranks
  int most_ranks_of_a_ring = 1024;
};

struct Setting {
  const mpi::Topology& topology;
  const predict::ExchangeTimer& timer;
  int n_nodes;
};

void print(const Setting& at, const char* collective, std::int64_t bytes, const char* algorithm,
           const model::MessageStages& stages) {
  const predict::ExchangeTime time = at.timer.time(stages);
  std::cout << fmt::format(
                   "{{\"collective\": \"{}\", \"nodes\": {}, \"ranks\": {}, \"bytes\": {}, "
                   "\"algorithm\": \"{}\", \"messages\": {}, \"most_messages\": {}, \"waits\": {}, "
                   "\"formula_s\": {:.4e}, \"simulated_s\": {:.4e}, \"low_s\": {:.4e}, \"high_s\": "
                   "{:.4e}}}",
                   collective, at.n_nodes, at.topology.n_ranks(), bytes, algorithm, time.messages,
                   time.max_off_node, time.waits, time.formula.total(), time.simulated.front(),
                   time.low(), time.high())
            << std::endl;
}

void study(const Arguments& arguments, int n_nodes, const model::Machine& machine) {
  std::vector<int> nodes;
  for (int r = 0; r < n_nodes * arguments.ranks_per_node; ++r) {
    nodes.push_back(r / arguments.ranks_per_node);
  }
  const mpi::Topology topology(nodes);
  const predict::ExchangeTimer timer(machine, topology, model::usual_arrival);
  const Setting at{topology, timer, n_nodes};
  const int n_ranks = topology.n_ranks();
  for (const std::int64_t bytes : arguments.reduced) {
    print(at, "allreduce", bytes, "recursive_doubling",
          predict::recursive_doubling(n_ranks, bytes));
    print(at, "allreduce", bytes, "halving", predict::halving_allreduce(n_ranks, bytes));
    print(at, "allreduce", bytes, "node_leaders", predict::node_leader_allreduce(topology, bytes));
    print(at, "allreduce", bytes, "node_aware", predict::node_aware_allreduce(topology, bytes));
  }
  for (const std::int64_t bytes : arguments.gathered) {
    const std::vector<std::int64_t> of_ranks(static_cast<std::size_t>(n_ranks), bytes);
    if (n_ranks <= arguments.most_ranks_of_a_ring) {
      print(at, "allgather", bytes, "ring", predict::ring_allgather(of_ranks));
    }
    print(at, "allgather", bytes, "bruck", predict::bruck_allgather(of_ranks));
    print(at, "allgather", bytes, "node_aware", predict::node_aware_allgather(topology, of_ranks));
  }
  for (const std::int64_t bytes : arguments.exchanged) {
    print(at, "alltoall", bytes, "pairwise", predict::pairwise_alltoall(n_ranks, bytes));
    print(at, "alltoall", bytes, "spread_out", predict::spread_out_alltoall(n_ranks, bytes));
    print(at, "alltoall", bytes, "node_aware", predict::node_aware_alltoall(topology, bytes));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("The algorithms of allreduce, allgather and alltoall on virtual ranks");
  app.add_option("--nodes", arguments.nodes, "numbers of nodes")->delimiter(',');
  app.add_option("--ranks-per-node", arguments.ranks_per_node)->check(CLI::PositiveNumber);
  app.add_option("--allreduce", arguments.reduced, "bytes of a vector")->delimiter(',');
  app.add_option("--allgather", arguments.gathered, "bytes of each rank")->delimiter(',');
  app.add_option("--alltoall", arguments.exchanged, "bytes of each pair of ranks")->delimiter(',');
  app.add_option("--machine", arguments.machine, "a machine file, or the name of one");
  return bench::run_program(app, argc, argv, [&] {
    const model::Machine machine = io::find_machine(arguments.machine);
    for (const int n_nodes : arguments.nodes) study(arguments, n_nodes, machine);
  });
}
