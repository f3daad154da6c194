// The exchange of a product where rows are dealt out, in the order of the file, and on balanced
// parts, over each route: what figures 5.12 and 5.13 of Bienz 2018 ask, measured. A line of a
// Markdown table for each matrix.
//   mpirun -n 16 nodewise_bench_partition_times --ranks-per-node 4 --matrix A.mtx B.mtx
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nodewise/io/read.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/partition/partition_method.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> matrices;
  std::vector<std::string> partitions = {"strided", "contiguous", "node_aware"};
  int repeats = 9;
  int exchanges = 5;  ///< of one sample
  int ranks_per_node = 0;
};

/// A partition over one route.
struct Way {
  Matrix A;
  std::vector<double> exchange_s = {};
};

Matrix divided(const Matrix& A, const std::string& partition) {
  const std::vector<int> owners = partition::owners(partition, {A, A.comm().topology(), 1});
  return matrix::redistribute(A, comm::RowMove::to_owners(A.rows(), owners));
}

/// Each in turn, in every repeat in another order.
void measure(std::vector<Way>& ways, const Arguments& arguments) {
  const std::size_t n = ways.size();
  for (int repeat = -1; repeat < arguments.repeats; ++repeat) {  // the first to warm up
    for (std::size_t k = 0; k < n; ++k) {
      Way& way = ways[(k + static_cast<std::size_t>(repeat + 1)) % n];
      const std::vector<double> x(static_cast<std::size_t>(way.A.n_local()), 1.0);
      std::vector<double> ghosts(static_cast<std::size_t>(way.A.n_ghosts()));
      const double seconds = timed(way.A.comm(), [&] {
        for (int e = 0; e < arguments.exchanges; ++e) {
          way.A.exchange().forward(std::span<const double>(x), std::span<double>(ghosts));
        }
      });
      if (repeat >= 0) way.exchange_s.push_back(1e3 * seconds / arguments.exchanges);
    }
  }
}

std::int64_t messages_between_nodes(const Matrix& A) {
  const mpi::Comm& comm = A.comm();
  return mpi::sum(
      comm, comm::traffic(A.exchange().plan(), comm.topology(), comm.rank()).messages_off_node);
}

void compare(const std::string& name, const Matrix& A, const Arguments& arguments) {
  std::vector<Way> ways;
  for (const std::string& partition : arguments.partitions) {
    const Matrix parts = divided(A, partition);
    for (const comm::Route route : comm::RouteMethod::family()) {
      ways.push_back({parts.with_route(route)});
    }
  }
  measure(ways, arguments);
  std::string line = fmt::format("| {} | {} |", name, A.rows().n_global());
  const std::size_t n_routes = comm::RouteMethod::family().size();
  const std::vector<double>& dealt_out = ways.front().exchange_s;
  for (std::size_t first = 0; first < ways.size(); first += n_routes) {
    std::size_t best = first;
    for (std::size_t k = first; k < first + n_routes; ++k) {
      if (spread(ways[k].exchange_s).median < spread(ways[best].exchange_s).median) best = k;
    }
    line += fmt::format(" {} | {} | {} {} | {} |", messages_between_nodes(ways[first].A),
                        to_text(spread(ways[first].exchange_s), 1), ways[best].A.route().name(),
                        to_text(spread(ways[best].exchange_s), 1),
                        to_text(spread(ratios(dealt_out, ways[best].exchange_s)), 1));
  }
  if (A.comm().is_root()) std::cout << line << std::endl;
}

void print_head(const mpi::Comm& comm, const Arguments& arguments) {
  if (!comm.is_root()) return;
  std::string head = "| matrix | rows |", rule = "|---|---|";
  for (const std::string& partition : arguments.partitions) {
    head += fmt::format(" {}: messages between nodes | direct, ms | best, ms | {} direct / best |",
                        partition, arguments.partitions.front());
    rule += "---|---|---|---|";
  }
  std::cout << fmt::format("#### An exchange on {} ranks of {} nodes\n\n{}\n{}\n", comm.size(),
                           comm.topology().n_nodes(), head, rule);
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = make_comm(arguments.ranks_per_node);
  print_head(*comm, arguments);
  for (const std::string& file : arguments.matrices) {
    const std::string name = file.substr(file.rfind('/') + 1);
    compare(name.substr(0, name.find('.')), io::read_matrix<double>(comm, file), arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare partitions by the time of an exchange; prints Markdown.");
  app.add_option("--matrix", arguments.matrices, "files of square matrices")->required();
  app.add_option("--partition", arguments.partitions, "the first is what others are compared with");
  app.add_option("--repeats", arguments.repeats, "samples of each")->check(CLI::PositiveNumber);
  app.add_option("--exchanges", arguments.exchanges, "in one sample")->check(CLI::PositiveNumber);
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
