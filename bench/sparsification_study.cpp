// What sparser coarse matrices save of messages, and cost in iterations, for virtual ranks: figures
// 4.3 to 4.17 of Bienz 2018, and dropping whole messages. A line of JSON for each problem and
// choice, exact counts and iterations; bench/published_sparsification runs it and draws.
//   nodewise_bench_sparsification_study --problem rotated_fe:250 --ranks 64 --ranks-per-node 8
//   nodewise_bench_sparsification_study --choice "hybrid_galerkin drop=messages drop_loss=0.2"
// Words of a choice are options of the hierarchy, and put_back=N: so many levels get their entries
// back, one after the other, before the solve.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

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
#include "nodewise/model/product_cost.hpp"
#include "nodewise/partition/part_order.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"
#include "nodewise/solver/adaptive_solve.hpp"

#include "name_and_value.hpp"
#include "problem.hpp"
#include "program.hpp"
#include "virtual_cycle.hpp"

namespace {

using namespace nodewise;
using bench::Matrix;

struct Arguments {
  int ranks = 64, ranks_per_node = 8, max_iterations = 500;
  std::string machine = "blue-waters", route = "direct", partition = "contiguous";
  std::string sweeps = "own";
  bool history = false;
  double s_per_flop = 1.6e-9;
  std::vector<std::string> methods = {"cg"};
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

// Choices.

struct StudiedChoice {
  amg::Options options;
  int put_back = 0;
};

StudiedChoice parse_choice(const std::string& choice, const Arguments& arguments) {
  constexpr std::string_view put_back = "put_back=";
  StudiedChoice studied;
  std::vector<std::string> words;
  for (std::size_t at = 0; at < choice.size();) {
    const std::size_t end = std::min(choice.find(' ', at), choice.size());
    const std::string word = choice.substr(at, end - at);
    at = end + 1;
    if (word.starts_with(put_back)) {
      studied.put_back = std::stoi(word.substr(put_back.size()));
    } else {
      words.push_back(word);
    }
  }
  bench::set_from_words(studied.options, arguments.options);
  studied.options.route = comm::Route(arguments.route);
  studied.options.set("sparsification", words.front());
  bench::set_from_words(studied.options, std::span(words).subspan(1));
  return studied;
}

// Placement.

mpi::Topology nodes_of(const Arguments& arguments) {
  std::vector<int> nodes;
  for (int r = 0; r < arguments.ranks; ++r) nodes.push_back(r / arguments.ranks_per_node);
  return mpi::Topology(nodes);
}

/// How many blocks there are along each edge of a square or a cube: factors of the ranks that
/// differ as little as can be, by dividing what is longest by the largest prime that is left.
std::vector<int> blocks_along_edges(int n_ranks, int dimensions) {
  std::vector<int> primes;
  for (int p = 2; n_ranks > 1; ++p) {
    for (; n_ranks % p == 0; n_ranks /= p) primes.push_back(p);
  }
  std::vector<int> blocks(static_cast<std::size_t>(dimensions), 1);
  for (auto p = primes.rbegin(); p != primes.rend(); ++p) {
    *std::min_element(blocks.begin(), blocks.end()) *= *p;
  }
  return blocks;
}

/// The rank of each point of a square or a cube of n points along an edge, divided into blocks.
std::vector<int> block_owners(int n, GlobalIndex n_rows, int n_ranks) {
  int dimensions = 1;
  for (GlobalIndex rows = n; rows < n_rows; rows *= n) ++dimensions;
  const std::vector<int> blocks = blocks_along_edges(n_ranks, dimensions);
  std::vector<int> owners(static_cast<std::size_t>(n_rows));
  for (GlobalIndex i = 0; i < n_rows; ++i) {
    GlobalIndex rest = i, owner = 0, stride = 1;
    for (const int many : blocks) {
      owner += stride * ((rest % n) * many / n);
      stride *= many;
      rest /= n;
    }
    owners[static_cast<std::size_t>(i)] = static_cast<int>(owner);
  }
  return owners;
}

/// A matrix, and which of its rows the virtual ranks have.
struct Placed {
  std::string name;
  std::shared_ptr<const Matrix> A;
  std::vector<GlobalIndex> starts;
};

Placed placed_problem(const std::string& text, const std::shared_ptr<const mpi::Comm>& comm,
                      const Arguments& arguments) {
  const bench::Problem problem = bench::parse_problem(text);
  auto A = bench::make_matrix(comm, problem);
  const GlobalIndex n_rows = A->rows().n_global();
  if (arguments.partition == "contiguous") {
    return {text, A, comm::uniform_starts(n_rows, arguments.ranks)};
  }
  const std::vector<int> owners = block_owners(problem.n, n_rows, arguments.ranks);
  const partition::PartOrder order = partition::order_of_parts(owners, arguments.ranks);
  return {text, std::make_shared<const Matrix>(partition::in_order(*A, order)), order.starts};
}

// Counts.

/// What a product with a level's matrix sends: messages of all ranks, and those between nodes.
struct LevelCount {
  GlobalIndex rows = 0, nonzeros = 0;
  std::int64_t sends = 0, most_sends = 0, longest = 0;
  std::int64_t messages = 0, most_messages = 0, bytes = 0;
  double product_s = 0;   ///< the exchange on the machine
  double plain_s = 0;     ///< the product by (4.5)
  double transfer_s = 0;  ///< a restriction and a prolongation on the machine
  double work_s = 0;      ///< the arithmetic of a product on the busiest rank
};

/// The latency and the bandwidth that chapter 4 has of Blue Waters.
model::Machine plain_machine() {
  model::Machine machine;
  auto& between_nodes = machine.paths[static_cast<std::size_t>(model::Locality::other_node)];
  between_nodes.fill(model::MessageParameters{1.8e-6, 1 / 1.8e-9});
  return machine;
}

class Counter {
 public:
  Counter(const bench::StudiedLevels& levels, const mpi::Topology& topology,
          const Arguments& arguments, const model::Machine& machine)
      : levels_(levels), topology_(topology), arguments_(arguments), machine_(machine) {}

  LevelCount level(std::size_t l) const;
  /// All messages of one product on every level.
  std::int64_t sends() const;

 private:
  std::vector<comm::Plan> plans_of(const kernels::Csr<double>& M, std::span<const GlobalIndex> rows,
                                   std::span<const GlobalIndex> cols) const {
    const auto patterns = comm::virtual_patterns(cols, matrix::virtual_ghosts(M, rows, cols));
    return comm::virtual_plans(patterns, topology_, comm::Route(arguments_.route));
  }
  void count_sends(std::span<const comm::Plan> plans, double nonzeros_per_rank,
                   LevelCount& count) const;
  double transfer_s(std::size_t l) const;

  const bench::StudiedLevels& levels_;
  const mpi::Topology& topology_;
  const Arguments& arguments_;
  const model::Machine& machine_;
};

void Counter::count_sends(std::span<const comm::Plan> plans, double nonzeros_per_rank,
                          LevelCount& count) const {
  std::vector<model::ProductSends> ranks(plans.size());
  comm::visit_messages(plans, topology_, [&](std::size_t, int from, int, std::int64_t entries) {
    model::ProductSends& rank = ranks[static_cast<std::size_t>(from)];
    ++rank.messages;
    rank.message_bytes = std::max(rank.message_bytes, 8 * static_cast<double>(entries));
  });
  for (const model::ProductSends& rank : ranks) {
    const auto sends = static_cast<std::int64_t>(rank.messages);
    count.sends += sends;
    count.most_sends = std::max(count.most_sends, sends);
    count.longest = std::max(count.longest, static_cast<std::int64_t>(rank.message_bytes));
  }
  count.plain_s =
      model::product_s(plain_machine(), arguments_.s_per_flop, nonzeros_per_rank, ranks);
  for (const comm::Traffic& traffic : comm::virtual_traffic(plans, topology_)) {
    count.messages += traffic.messages_off_node;
    count.most_messages = std::max(count.most_messages, traffic.messages_off_node);
    count.bytes += static_cast<std::int64_t>(sizeof(double)) * traffic.entries_off_node;
  }
}

double Counter::transfer_s(std::size_t l) const {
  if (l + 1 == levels_.size()) return 0;
  const auto plans =
      plans_of(levels_.hierarchy.interpolation(l)->on(), levels_.hierarchy.virtual_starts(l),
               levels_.hierarchy.virtual_starts(l + 1));
  return model::forward_cost(plans, topology_, machine_).total() +
         model::reversed_cost(plans, topology_, machine_).total();
}

LevelCount Counter::level(std::size_t l) const {
  const auto starts = levels_.hierarchy.virtual_starts(l);
  const auto A = levels_.matrix(l);
  const auto plans = plans_of(A->on(), starts, starts);
  LevelCount count{A->rows().n_global(), A->nnz_global()};
  count_sends(plans, static_cast<double>(count.nonzeros) / arguments_.ranks, count);
  Offset most = 0;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    most = std::max(most, A->on().begin(static_cast<LocalIndex>(starts[r + 1])) -
                              A->on().begin(static_cast<LocalIndex>(starts[r])));
  }
  count.work_s = 2 * arguments_.s_per_flop * static_cast<double>(most);
  count.product_s = model::forward_cost(plans, topology_, machine_).total();
  count.transfer_s = transfer_s(l);
  return count;
}

std::int64_t Counter::sends() const {
  std::int64_t sends = 0;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const auto starts = levels_.hierarchy.virtual_starts(l);
    LevelCount count;
    count_sends(plans_of(levels_.matrix(l)->on(), starts, starts), 0, count);
    sends += count.sends;
  }
  return sends;
}

/// Seconds of a cycle and of the product of a Krylov method. A cycle has, on each level but the
/// last, two symmetric sweeps of two products' work and one exchange each, a residual, and the
/// transfers; the last level is left out.
double iteration_s(std::span<const LevelCount> levels) {
  double seconds = levels.front().product_s + levels.front().work_s;
  for (const LevelCount& level : levels.first(levels.size() - 1)) {
    seconds += 3 * level.product_s + 5 * level.work_s + level.transfer_s;
  }
  return seconds;
}

// Solves.

struct Solved {
  solve::Report report;
  std::vector<std::int64_t> sends;  ///< of one product on every level, by iteration
  std::vector<solver::EntriesBack> entries_back;
};

/// Whether entries are to come back during a solve.
bool is_adaptive(const amg::Hierarchy<double>& hierarchy) {
  const amg::Sparsification& sparsification = hierarchy.options().sparsification;
  return sparsification->drops_entries && solver::has_lost_entries(hierarchy) &&
         sparsification.options<amg::SparsificationOptions>().adaptive;
}

Solved solve_by_method(const std::string& method, const std::shared_ptr<const Matrix>& A,
                       const bench::StudiedLevels& levels, amg::Hierarchy<double>* own,
                       const Counter& counter, const Arguments& arguments) {
  const auto n = static_cast<std::size_t>(A->n_local());
  std::vector<double> b(n), x(n, 0);
  for (std::size_t i = 0; i < n; ++i) b[i] = hash_uniform(i, 1) - 0.5;
  std::optional<bench::VirtualCycle> cycle;
  if (arguments.sweeps != "own") cycle.emplace(levels, arguments.sweeps == "l1");
  solver::SolveSetup setup{A, own, own, Choice<solve::KrylovMethod>(method), {}};
  if (cycle) setup.preconditioner = &*cycle;
  setup.options.max_iterations = arguments.max_iterations;
  setup.options.tolerance = 1e-8;
  const solve::MatrixOperator<double> product(A);
  Solved solved;
  const auto once = [&](const solve::Options& options, const solve::Observer& observe) {
    return std::vector<solve::Report>{solve::solve_by<double>(
        setup.method, product, setup.preconditioner, b, x, options, observe)};
  };
  if (own == nullptr || !is_adaptive(*own)) {
    solved.report = once(setup.options, {}).front();
    return solved;
  }
  const auto observe = [&](int, double) { solved.sends.push_back(counter.sends()); };
  solved.report =
      solver::solve_with_lost_entries(setup, once, observe, solved.entries_back).front();
  return solved;
}

std::string solve_json(const Solved& solved, const Arguments& arguments) {
  const solve::Report& report = solved.report;
  std::string text = fmt::format(
      "\"{}\": {{\"iterations\": {}, \"converged\": {}, \"outcome\": \"{}\", \"residual\": {:.3e}",
      report.method, report.iterations, report.converged(), solve::to_string(report.outcome),
      report.true_relative_residual);
  if (!arguments.history) return text + "}";
  std::vector<std::string> events;
  for (const solver::EntriesBack& event : solved.entries_back) {
    events.push_back(fmt::format("{{\"iteration\": {}, \"levels\": [{}]}}", event.iteration,
                                 fmt::join(event.levels, ", ")));
  }
  return text + fmt::format(", \"history\": [{:.3e}], \"sends\": [{}], \"entries_back\": [{}]}}",
                            fmt::join(report.history, ", "), fmt::join(solved.sends, ", "),
                            fmt::join(events, ", "));
}

std::string level_json(const LevelCount& c) {
  return fmt::format(
      "{{\"rows\": {}, \"nonzeros\": {}, \"sends\": {}, \"most_sends\": {}, \"longest\": {}, "
      "\"messages\": {}, \"most_messages\": {}, \"bytes\": {}, \"product_s\": {:.4e}, "
      "\"plain_s\": {:.4e}, \"transfer_s\": {:.4e}, \"work_s\": {:.4e}}}",
      c.rows, c.nonzeros, c.sends, c.most_sends, c.longest, c.messages, c.most_messages, c.bytes,
      c.product_s, c.plain_s, c.transfer_s, c.work_s);
}

/// One problem with many choices.
class Study {
 public:
  Study(const Placed& problem, const Arguments& arguments)
      : problem_(problem),
        arguments_(arguments),
        machine_(io::find_machine(arguments.machine)),
        topology_(std::make_shared<const mpi::Topology>(nodes_of(arguments))) {}

  void look_at(const std::string& text);

 private:
  amg::Hierarchy<double> set_up(const amg::Options& options) const;
  bool is_derived(const StudiedChoice& choice) const;
  void write(const std::string& text, const bench::StudiedLevels& levels,
             amg::Hierarchy<double>* own) const;

  const Placed& problem_;
  const Arguments& arguments_;
  model::Machine machine_;
  std::shared_ptr<const mpi::Topology> topology_;
  std::optional<amg::Hierarchy<double>> galerkin_;
};

/// Whether the Galerkin hierarchy, with sparser matrices, is all that the choice needs. What is
/// smoothed by the hierarchy, or gets entries back, or counts messages, is set up by itself.
bool Study::is_derived(const StudiedChoice& choice) const {
  const amg::Sparsification& sparsification = choice.options.sparsification;
  if (!sparsification->drops_entries || sparsification->goes_on_with_rest) return false;
  if (sparsification->asks_costs) return false;
  const auto& own = sparsification.options<amg::SparsificationOptions>();
  return arguments_.sweeps != "own" && own.drop->keeps_minimal_pattern && !own.adaptive &&
         choice.put_back == 0;
}

amg::Hierarchy<double> Study::set_up(const amg::Options& options) const {
  amg::ProblemInfo<double> info;
  info.virtual_starts = problem_.starts;
  info.virtual_topology = topology_;
  amg::Options with_costs = options;
  with_costs.machine = std::make_shared<const model::Machine>(machine_);
  return {problem_.A, with_costs, info};
}

void Study::look_at(const std::string& text) {
  StudiedChoice choice = parse_choice(text, arguments_);
  const amg::Sparsification sparsification = choice.options.sparsification;
  if (is_derived(choice)) {
    choice.options.sparsification = "none";
    if (!galerkin_) galerkin_.emplace(set_up(choice.options));
    return write(text, bench::sparser_levels(*galerkin_, sparsification), nullptr);
  }
  galerkin_.reset();  // memory for one hierarchy at a time
  amg::Hierarchy<double> hierarchy = set_up(choice.options);
  for (int k = 0; k < choice.put_back; ++k) hierarchy.put_entries_back(1);
  write(text, {hierarchy}, &hierarchy);
  if (!sparsification->drops_entries) galerkin_.emplace(std::move(hierarchy));
}

void Study::write(const std::string& text, const bench::StudiedLevels& levels,
                  amg::Hierarchy<double>* own) const {
  const Counter counter(levels, *topology_, arguments_, machine_);
  std::vector<LevelCount> counts;
  std::vector<std::string> levels_json, solves;
  LevelCount all;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const LevelCount count = counter.level(l);
    counts.push_back(count);
    levels_json.push_back(level_json(count));
    all.sends += count.sends;
    all.messages += count.messages;
    all.most_messages += count.most_messages;
    all.product_s += count.product_s;
  }
  for (const std::string& method : arguments_.methods) {
    if (method == "none") continue;
    solves.push_back(solve_json(
        solve_by_method(method, problem_.A, levels, own, counter, arguments_), arguments_));
  }
  std::cout << fmt::format(
                   "{{\"problem\": \"{}\", \"ranks\": {}, \"ranks_per_node\": {}, \"route\": "
                   "\"{}\", \"choice\": \"{}\", \"sends\": {}, \"messages\": {}, "
                   "\"most_messages\": {}, \"product_s\": {:.4e}, \"iteration_s\": {:.4e}, "
                   "\"solves\": {{{}}}, \"levels\": [{}]}}",
                   problem_.name, arguments_.ranks, arguments_.ranks_per_node, arguments_.route,
                   text, all.sends, all.messages, all.most_messages, all.product_s,
                   iteration_s(counts), fmt::join(solves, ", "), fmt::join(levels_json, ", "))
            << std::endl;
}

void study_all(const Placed& problem, const Arguments& arguments) {
  Study study(problem, arguments);
  for (const std::string& choice : arguments.choices) study.look_at(choice);
}

void run_study(const Arguments& arguments) {
  const auto comm = mpi::Comm::create(MPI_COMM_SELF);
  for (const std::string& problem : arguments.problems) {
    study_all(placed_problem(problem, comm, arguments), arguments);
  }
  for (const std::string& file : arguments.matrices) {
    const std::string name = file.substr(file.rfind('/') + 1);
    const auto A = std::make_shared<const Matrix>(io::read_matrix<double>(comm, file));
    study_all({name.substr(0, name.find('.')), A,
               comm::uniform_starts(A->rows().n_global(), arguments.ranks)},
              arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What sparser coarse matrices save and cost, for virtual ranks");
  app.add_option("--ranks", arguments.ranks, "virtual ranks")->check(CLI::PositiveNumber);
  app.add_option("--ranks-per-node", arguments.ranks_per_node)->check(CLI::PositiveNumber);
  app.add_option("--machine", arguments.machine, "a machine file, or a name");
  app.add_option("--s-per-flop", arguments.s_per_flop, "of the arithmetic of products");
  app.add_option("--route", arguments.route, "of all exchanges");
  app.add_option("--partition", arguments.partition, "of problems: rows, or blocks of the grid")
      ->check(CLI::IsMember({"contiguous", "blocks"}));
  app.add_option("--method", arguments.methods, "Krylov methods, or none: counts alone");
  app.add_option("--max-iterations", arguments.max_iterations);
  app.add_option("--sweeps", arguments.sweeps,
                 "the hierarchy's own, or symmetric Gauss-Seidel of the virtual ranks")
      ->check(CLI::IsMember({"own", "hybrid", "l1"}));
  app.add_flag("--history", arguments.history, "print residuals and what came back");
  app.add_option("--set", arguments.options, "options of all hierarchies: name=value");
  app.add_option("--choice", arguments.choices, "a sparsification, and options: \"name a=b c=d\"");
  app.add_option("--problem", arguments.problems, "name:n");
  app.add_option("--matrix", arguments.matrices, "files");
  return bench::run_program(app, argc, argv, [&] { run_study(arguments); });
}
