// What sparser coarse matrices save of messages, and cost in iterations, for virtual ranks: figures
// 4.6 to 4.9 of Bienz 2018, and dropping whole messages. A line of JSON for each problem and
// choice. Iterations are those of one rank, counts those of the virtual ones; both are exact.
//   nodewise_bench_sparsification_study --problem rotated_fe:250 --ranks 64 --ranks-per-node 8
//   nodewise_bench_sparsification_study --choice "hybrid_galerkin drop=messages drop_loss=0.2"
#include <algorithm>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/by_level.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using bench::Matrix;

struct Arguments {
  int ranks = 64, ranks_per_node = 8, max_iterations = 500;
  std::string machine = "blue-waters", route = "direct", method = "cg";
  std::vector<std::string> options = {};
  std::vector<std::string> problems, matrices;
  std::vector<std::string> choices = {"none",
                                      "non_galerkin lumping=strong drop_tolerance=0,0.01,0.1",
                                      "non_galerkin lumping=diagonal drop_tolerance=0,0.01,0.1",
                                      "sparse_galerkin lumping=strong drop_tolerance=0,0.01,0.1",
                                      "sparse_galerkin lumping=diagonal drop_tolerance=0,0.01,0.1",
                                      "hybrid_galerkin lumping=strong drop_tolerance=0,0.01,0.1",
                                      "hybrid_galerkin lumping=diagonal drop_tolerance=0,0.01,0.1",
                                      "hybrid_galerkin drop=messages drop_loss=0.2",
                                      "hybrid_galerkin drop=messages drop_loss=0.4"};
};

/// Sets options that are written name=value.
void set_options(amg::Options& options, std::span<const std::string> words) {
  for (const std::string& word : words) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos) {
      throw Error(ErrorCode::invalid_argument, "'" + word + "' is not name=value");
    }
    options.set(word.substr(0, at), word.substr(at + 1));
  }
}

amg::Options options_of(const std::string& choice, const Arguments& arguments) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < choice.size();) {
    const std::size_t end = std::min(choice.find(' ', at), choice.size());
    words.push_back(choice.substr(at, end - at));
    at = end + 1;
  }
  amg::Options options;
  set_options(options, arguments.options);
  options.route = comm::Route(arguments.route);
  options.set("sparsification", words.front());
  set_options(options, std::span(words).subspan(1));
  return options;
}

/// What a product with a level's matrix sends between nodes.
struct LevelCount {
  GlobalIndex rows = 0, nonzeros = 0;
  std::int64_t messages = 0, most_messages = 0, bytes = 0;
  double product_s = 0;
};

LevelCount count_level(const amg::Hierarchy<double>& hierarchy, std::size_t l,
                       const mpi::Topology& topology, const comm::Route& route,
                       const model::Machine& machine) {
  const auto rows = hierarchy.virtual_starts(l);
  const auto A = hierarchy.matrix(l);
  const auto plans = comm::virtual_plans(
      comm::virtual_patterns(rows, matrix::virtual_ghosts(A->on(), rows, rows)), topology, route);
  LevelCount count{A->rows().n_global(), A->nnz_global()};
  for (const comm::Traffic& traffic : comm::virtual_traffic(plans, topology)) {
    count.messages += traffic.messages_off_node;
    count.most_messages = std::max(count.most_messages, traffic.messages_off_node);
    count.bytes += static_cast<std::int64_t>(sizeof(double)) * traffic.entries_off_node;
  }
  count.product_s = model::forward_cost(plans, topology, machine).total();
  return count;
}

solve::Report solve_with(const std::shared_ptr<const Matrix>& A,
                         const amg::Hierarchy<double>& hierarchy, const Arguments& arguments) {
  const auto n = static_cast<std::size_t>(A->n_local());
  std::vector<double> b(n), x(n, 0);
  for (std::size_t i = 0; i < n; ++i) b[i] = hash_uniform(i, 1) - 0.5;
  solve::Options options;
  options.max_iterations = arguments.max_iterations;
  options.tolerance = 1e-8;
  return solve::solve_by<double>(arguments.method, solve::MatrixOperator<double>(A), &hierarchy, b,
                                 x, options);
}

void study(const std::string& name, const std::shared_ptr<const Matrix>& A,
           const std::string& choice, const Arguments& arguments, const model::Machine& machine) {
  std::vector<int> nodes;
  for (int r = 0; r < arguments.ranks; ++r) nodes.push_back(r / arguments.ranks_per_node);
  const mpi::Topology topology(nodes);
  const amg::Options options = options_of(choice, arguments);
  amg::ProblemInfo<double> info;
  info.virtual_starts = comm::uniform_starts(A->rows().n_global(), arguments.ranks);
  info.virtual_topology = std::make_shared<const mpi::Topology>(topology);
  const amg::Hierarchy<double> hierarchy(A, options, info);
  const solve::Report report = solve_with(A, hierarchy, arguments);
  std::vector<std::string> levels;
  std::int64_t messages = 0, most = 0;
  double seconds = 0;
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const LevelCount c = count_level(hierarchy, l, topology, comm::Route(arguments.route), machine);
    levels.push_back(fmt::format(
        "{{\"rows\": {}, \"nonzeros\": {}, \"messages\": {}, \"most_messages\": {}, \"bytes\": {}, "
        "\"product_s\": {:.4e}}}",
        c.rows, c.nonzeros, c.messages, c.most_messages, c.bytes, c.product_s));
    messages += c.messages;
    most += c.most_messages;
    seconds += c.product_s;
  }
  std::cout << fmt::format(
                   "{{\"problem\": \"{}\", \"ranks\": {}, \"ranks_per_node\": {}, \"route\": "
                   "\"{}\", \"choice\": \"{}\", \"method\": \"{}\", \"iterations\": {}, "
                   "\"converged\": {}, \"messages\": {}, \"most_messages\": {}, \"product_s\": "
                   "{:.4e}, \"levels\": [{}]}}",
                   name, arguments.ranks, arguments.ranks_per_node, arguments.route, choice,
                   arguments.method, report.iterations, report.converged(), messages, most, seconds,
                   fmt::join(levels, ", "))
            << std::endl;
}

void study_all(const std::string& name, const std::shared_ptr<const Matrix>& A,
               const Arguments& arguments) {
  const model::Machine machine = io::find_machine(arguments.machine);
  for (const std::string& choice : arguments.choices) study(name, A, choice, arguments, machine);
}

void run(const Arguments& arguments) {
  const auto comm = mpi::Comm::create(MPI_COMM_SELF);
  for (const std::string& problem : arguments.problems) {
    study_all(problem, bench::make_matrix(comm, bench::parse_problem(problem)), arguments);
  }
  for (const std::string& file : arguments.matrices) {
    const std::string name = file.substr(file.rfind('/') + 1);
    study_all(name.substr(0, name.find('.')),
              std::make_shared<const Matrix>(io::read_matrix<double>(comm, file)), arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What sparser coarse matrices save and cost, for virtual ranks");
  app.add_option("--ranks", arguments.ranks, "virtual ranks");
  app.add_option("--ranks-per-node", arguments.ranks_per_node);
  app.add_option("--machine", arguments.machine, "a machine file, or a name");
  app.add_option("--route", arguments.route, "of all exchanges");
  app.add_option("--method", arguments.method, "Krylov method");
  app.add_option("--max-iterations", arguments.max_iterations);
  app.add_option("--set", arguments.options, "options of all hierarchies: name=value");
  app.add_option("--choice", arguments.choices, "a sparsification, and options: \"name a=b c=d\"");
  app.add_option("--problem", arguments.problems, "name:n");
  app.add_option("--matrix", arguments.matrices, "files");
  return bench::run_program(app, argc, argv, [&] { run(arguments); });
}
