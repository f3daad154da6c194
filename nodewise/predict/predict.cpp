#include "nodewise/predict/predict.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/base/timer.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/model/allreduce_cost.hpp"
#include "nodewise/model/cost_term.hpp"
#include "nodewise/model/unused_parameters.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/predict/cycle_work.hpp"
#include "nodewise/predict/gpu_prediction.hpp"
#include "nodewise/predict/placed_rows.hpp"
#include "nodewise/predict/prediction.hpp"

namespace nodewise::predict {

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

std::vector<int> parse_rank_counts(std::string_view text) {
  std::vector<int> counts;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    int count = 0;
    const auto [end, status] = std::from_chars(item.data(), item.data() + item.size(), count);
    if (status != std::errc() || end != item.data() + item.size() || count < 1) {
      refuse(
          fmt::format("`rank_counts`: '{}' is not a number of ranks (a list such as "
                      "64,512,4096)",
                      item));
    }
    counts.push_back(count);
    text.remove_prefix(std::min(item.size() + 1, text.size()));
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

bool knows_work(const model::Machine& machine) {
  return !machine.s_per_flop_by_level.empty() || !machine.s_per_flop_by_size.empty();
}

/// "lassen-mvapich, summit"
std::string machines_with_gpus() {
  std::vector<std::string> names;
  for (const std::string& name : io::shipped_machine_names()) {
    if (io::shipped_machine(name).gpu) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_knows_gpus(const model::Machine& machine) {
  if (machine.gpu) return;
  refuse(
      fmt::format("machine '{}' has no `gpu` parameters, which `memory device` needs; of the "
                  "library's machines {} have them",
                  machine.name, machines_with_gpus()));
}

/// With the time of arithmetic that the options give; the file's is that of a core, not of a GPU.
model::Machine find_costs(const PredictOptions& options) {
  model::Machine machine = io::find_machine(options.machine);
  model::take_scenario(machine, options.scenario);
  const bool on_gpus = options.memory == Memory::device;
  if (on_gpus) check_knows_gpus(machine);
  if (options.s_per_flop > 0 || on_gpus) {
    machine.s_per_flop_by_level.clear();
    machine.s_per_flop_by_size.clear();
    if (options.s_per_flop > 0) machine.s_per_flop_by_level = {options.s_per_flop};
  }
  if (!options.rank_counts.empty() && !knows_work(machine)) {
    refuse(
        fmt::format("machine '{}' has neither computation.s_per_flop_by_level nor "
                    "computation.s_per_flop_by_size, which `rank_counts` needs; "
                    "`s_per_flop` can give it",
                    machine.name));
  }
  return machine;
}

PredictedMachine describe_machine(const Request& request, const amg::Options& options) {
  const model::Machine& machine = request.costs;
  PredictedMachine facts;
  facts.name = machine.name;
  facts.source = machine.source;
  facts.measured = machine.measured;
  facts.scenario = machine.scenario;
  facts.knows_overheads = machine.overheads.has_value();
  facts.knows_work = knows_work(machine);
  facts.knows_allreduces = machine.allreduces.has_value();
  facts.allreduce_scale = {
      model::allreduce_scale(machine, model::AllreduceAlgorithm::recursive_doubling,
                             sizeof(double)),
      model::allreduce_scale(machine, model::AllreduceAlgorithm::node_aware, sizeof(double))};
  for (const model::CostTerm& term : model::CostTerm::family()) {
    if (term.is_charged(machine) && !term.is_known(machine)) facts.unknown.push_back(term.name);
  }
  if (request.threads > 1 && machine.thread_bandwidth.empty()) {
    facts.unknown.emplace_back("thread_bandwidth");
  }
  facts.left_out = model::unused_parameters(machine);
  if (options.redistribution->reads_caches) std::erase(facts.left_out, "computation.caches");
  if (request.memory == Memory::device) std::erase(facts.left_out, "gpu");
  return facts;
}

/// Unless a placement is given, as many ranks on a node as it has GPUs, or cores for several
/// threads of each.
run::PlacementOptions usual_placement(run::PlacementOptions placement,
                                      const PredictOptions& options,
                                      const model::Machine& machine) {
  if (!placement.node_map.empty() || placement.ranks_per_node > 0) return placement;
  const int threads = options.threads_per_rank;
  if (options.memory == Memory::device) {
    placement.ranks_per_node = machine.gpu->gpus_per_node;
  } else if (threads > 1) {
    placement.ranks_per_node = std::max(1, machine.cores_per_node / threads);
  }
  return placement;
}

/// Ranks of one thread may share cores, as ever; several threads of a rank have a core each.
void check_cores(const model::Machine& machine, const mpi::Topology& topology, int threads) {
  const std::size_t most = topology.most_ranks_on_a_node();
  const auto cores = static_cast<std::size_t>(machine.cores_per_node);
  if (threads == 1 || most * static_cast<std::size_t>(threads) <= cores) return;
  refuse(fmt::format("a node of machine '{}' has {} cores, too few for {} ranks of {} threads",
                     machine.name, cores, most, threads));
}

/// A rank has a GPU of its own.
void check_gpus(const model::Machine& machine, const mpi::Topology& topology) {
  const std::size_t most = topology.most_ranks_on_a_node();
  if (std::cmp_less_equal(most, machine.gpu->gpus_per_node)) return;
  refuse(fmt::format("a node of machine '{}' has {} GPUs, too few for {} ranks of one each",
                     machine.name, machine.gpu->gpus_per_node, most));
}

/// As the ranks of the machine would make it.
amg::Hierarchy<double> virtual_hierarchy(Problem placed, const Request& request, bool symmetric,
                                         const Progress& progress) {
  amg::Options options = placed.options;
  options.machine = std::make_shared<const model::Machine>(request.costs);
  placed.info.symmetric = symmetric;
  return {placed.A, with_every_route(std::move(options)), std::move(placed.info), progress.level};
}

/// The part that stays the same for every number of ranks.
struct Task {
  const Problem& problem;
  const Request& request;
  const Progress& progress;
  bool symmetric;  ///< the matrix
};

/// By the host's messages, then by every way of data between GPUs where vectors lie there.
struct Predicted {
  Prediction host;
  std::optional<GpuPrediction> gpu;
};

Predicted predict_exchanges(const VirtualSetup& made, const Task& task,
                            const VirtualMachine& machine) {
  const Request& request = task.request;
  const auto timer = [&](const model::GpuTransport* way) {
    return ExchangeTimer(request.costs, machine.topology, request.arrival, request.threads, way);
  };
  std::vector<ExchangeTimer> timers = {timer(nullptr)};
  std::optional<GpuPrediction> gpu;
  if (request.memory == Memory::device) {
    gpu = begin_gpu_prediction(request.costs);
    for (const GpuPrediction::Way& way : gpu->ways) timers.push_back(timer(way.transport));
  }
  std::vector<Prediction> all = predict(made, machine, timers, task.progress.exchange);
  if (gpu) {
    for (std::size_t k = 0; k < gpu->ways.size(); ++k) {
      gpu->ways[k].prediction = std::move(all[k + 1]);
    }
    add_turns(request.costs, *gpu);
  }
  return {std::move(all.front()), std::move(gpu)};
}

Predicted predict_on(const Task& task, const VirtualMachine& machine, Result& result) {
  const auto& [problem, request, progress, symmetric] = task;
  if (progress.begin) progress.begin(machine.topology.n_ranks());
  const Timer setup;
  Problem chosen = problem;
  if (chosen.chooses_redistribution) {
    chosen.options.redistribution = usual_redistribution(machine.topology);
  }
  Problem placed = with_placed_rows(chosen, &machine, &request.costs);
  const std::optional<partition::PlacementGain> placement_gain = placed.placement_gain;
  const std::optional<partition::PartitionDecision> partition_decision = placed.partition_decision;
  mpi::Ledger& ledger = problem.A->comm().ledger();
  ledger.clear();
  const amg::Hierarchy<double> hierarchy =
      virtual_hierarchy(std::move(placed), request, symmetric, progress);
  const VirtualSetup made = {hierarchy, symmetric, chosen.options, ledger.accounts()};
  result.setup_s += setup.seconds();
  const Timer prediction;
  Predicted predicted = predict_exchanges(made, task, machine);
  predicted.host.redistribution = chosen.options.redistribution;
  predicted.host.placement_gain = placement_gain;
  predicted.host.partition_decision = partition_decision;
  result.predict_s += prediction.seconds();
  return predicted;
}

ScalingPoint point_of(const Prediction& prediction, const std::optional<GpuPrediction>& gpu) {
  ScalingPoint point;
  point.ranks = prediction.n_ranks();
  point.nodes = static_cast<int>(prediction.ranks_per_node.size());
  point.rows_of_a_rank = static_cast<double>(prediction.levels.front().rows) / point.ranks;
  if (gpu) {
    point.cycle = {prediction.work_s(), gpu->plain().cycle(0), gpu->cycle(gpu->best(by_formula)),
                   gpu->cycle(gpu->best(by_simulation))};
  } else {
    point.cycle = {prediction.work_s(), prediction.cycle(0),
                   prediction.cycle(prediction.best(by_formula)),
                   prediction.cycle(prediction.best(by_simulation))};
  }
  point.setup = {prediction.setup_work_s(), prediction.setup(0),
                 prediction.setup(prediction.best_for_setup(by_formula)),
                 prediction.setup(prediction.best_for_setup(by_simulation))};
  return point;
}

bool has_same_nodes(const mpi::Topology& a, const mpi::Topology& b) {
  if (a.n_ranks() != b.n_ranks() || a.has_domains() != b.has_domains()) return false;
  for (int r = 0; r < a.n_ranks(); ++r) {
    if (a.node(r) != b.node(r)) return false;
  }
  return true;
}

}  // namespace

Request make_request(const PredictOptions& options, const VirtualOptions& ranks,
                     const run::PlacementOptions& given, const partition::Placement& dealing) {
  Request request;
  request.costs = find_costs(options);
  request.threads = options.threads_per_rank;
  request.memory = options.memory;
  const run::PlacementOptions placement = usual_placement(given, options, request.costs);
  request.arrival = options.arrival;
  const std::vector<int> counts = parse_rank_counts(options.rank_counts);
  request.machine = virtual_machine(ranks, placement, dealing);
  check_cores(request.costs, request.machine.topology, request.threads);
  if (request.memory == Memory::device) check_gpus(request.costs, request.machine.topology);
  for (const int count : counts) {
    VirtualOptions others = ranks;
    others.virtual_ranks = count;
    request.scaling.push_back(virtual_machine(others, placement, dealing));
  }
  return request;
}

int most_virtual_ranks(const PredictOptions& options, const VirtualOptions& ranks) {
  std::vector<int> counts;
  try {
    counts = parse_rank_counts(options.rank_counts);
  } catch (const Error&) {  // for make_request() to say
  }
  return std::max(ranks.virtual_ranks, counts.empty() ? 0 : counts.back());
}

void check_one_process(const mpi::Comm& comm, const char* doing) {
  if (comm.size() == 1) return;
  refuse(fmt::format("`virtual_ranks` {} in one process: start nodewise on one rank, not on {}",
                     doing, comm.size()));
}

void check_predictable(const amg::Options& options) {
  work_of_cycle(options, true, 1, true);
}

Result predict(const Problem& problem, const Request& request, const Progress& progress) {
  check_one_process(problem.A->comm(), "predicts");
  check_predictable(problem.options);
  const std::optional<bool>& known = problem.info.symmetric;
  const Task task = {problem, request, progress, known ? *known : matrix::is_symmetric(*problem.A)};
  Result result;
  result.machine = describe_machine(request, problem.options);
  Predicted asked = predict_on(task, request.machine, result);
  for (const VirtualMachine& machine : request.scaling) {
    const bool is_known = has_same_nodes(machine.topology, request.machine.topology);
    const Predicted other = is_known ? asked : predict_on(task, machine, result);
    result.scaling.push_back(point_of(other.host, other.gpu));
  }
  result.prediction = std::move(asked.host);
  result.gpu = std::move(asked.gpu);
  return result;
}

}  // namespace nodewise::predict
