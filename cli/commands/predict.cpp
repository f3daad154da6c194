#include "cli/commands/predict.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/allreduce_cost.hpp"
#include "nodewise/model/network.hpp"
#include "nodewise/mpi/ledger.hpp"

#include "cli/agreed.hpp"
#include "cli/cycle_visits.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/machine.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/predict_json.hpp"
#include "cli/prediction.hpp"
#include "cli/print/console.hpp"
#include "cli/print/predict_tables.hpp"
#include "cli/print/progress.hpp"
#include "cli/timed.hpp"

namespace nodewise::cli {

namespace {

std::vector<int> parse_rank_counts(std::string_view text) {
  std::vector<int> counts;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    int count = 0;
    const auto [end, status] = std::from_chars(item.data(), item.data() + item.size(), count);
    if (status != std::errc() || end != item.data() + item.size() || count < 1) {
      throw Failure(ExitCode::usage,
                    fmt::format("--rank-counts: '{}' is not a number of ranks (a list such as "
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

/// With the time of arithmetic that the options give.
model::Machine find_costs(const Settings& settings) {
  model::Machine machine = io::find_machine(settings.predict.machine);
  if (settings.predict.s_per_flop > 0) {
    machine.s_per_flop_by_level = {settings.predict.s_per_flop};
    machine.s_per_flop_by_size.clear();
  }
  if (!settings.predict.rank_counts.empty() && !knows_work(machine)) {
    throw Failure(ExitCode::usage,
                  fmt::format("machine '{}' has neither computation.s_per_flop_by_level nor "
                              "computation.s_per_flop_by_size, which --rank-counts needs; "
                              "--s-per-flop X can give it",
                              machine.name));
  }
  return machine;
}

PredictedMachine describe(const model::Machine& machine) {
  PredictedMachine facts;
  facts.name = machine.name;
  facts.source = machine.source;
  facts.measured = machine.measured;
  facts.knows_overheads = machine.overheads.has_value();
  facts.knows_work = knows_work(machine);
  facts.knows_allreduces = machine.allreduces.has_value();
  facts.allreduce_scale = {
      model::allreduce_scale(machine, model::AllreduceAlgorithm::recursive_doubling,
                             sizeof(double)),
      model::allreduce_scale(machine, model::AllreduceAlgorithm::node_aware, sizeof(double))};
  if (machine.queue_search_s == 0) facts.left_out.push_back("queue search");
  if (!model::is_known(machine.network) || machine.contention_s_per_byte_per_link == 0) {
    facts.left_out.push_back("contention");
  }
  return facts;
}

/// What stays the same for every number of ranks.
class Predictor {
 public:
  Predictor(const LoadedMatrix& loaded, bool symmetric, const model::Machine& costs,
            const Settings& settings, Console& console, PredictTimes& times)
      : A_(loaded.A),
        symmetric_(symmetric),
        costs_(costs),
        settings_(settings),
        console_(console),
        times_(times) {}

  Prediction predict_on(int n_ranks, bool with_setup) {
    Settings settings = settings_;
    settings.virtual_machine.virtual_ranks = n_ranks;
    const VirtualMachine machine = virtual_machine(settings);
    if (!console_.is_live()) console_.line(fmt::format("{} ranks", grouped(n_ranks)));
    const Timer setup;
    amg::ProblemInfo<double> knowledge = make_knowledge(*A_, symmetric_, settings);
    knowledge.virtual_starts =
        comm::uniform_point_starts(A_->rows().n_global(), n_ranks, settings.amg.unknowns);
    A_->comm().ledger().clear();
    const amg::Hierarchy<double> hierarchy(A_, settings.amg, std::move(knowledge),
                                           level_progress(console_));
    const VirtualSetup made = {hierarchy, symmetric_, settings.amg, A_->comm().ledger().accounts()};
    times_.setup += setup.seconds();
    const Timer prediction;
    const ExchangeTimer timer(costs_, machine.topology, settings.predict.arrival);
    const auto observe = [&](std::size_t level, Operation operation, double seconds) {
      console_.progress(fmt::format("  level {:>3}   {:<20}{:>10}", level, to_string(operation),
                                    human_seconds(seconds)));
    };
    Prediction result = predict(made, machine, timer, observe, with_setup);
    times_.predict += prediction.seconds();
    if (!console_.is_live()) console_.line();
    return result;
  }

 private:
  std::shared_ptr<const Matrix> A_;
  bool symmetric_;
  const model::Machine& costs_;
  const Settings& settings_;
  Console& console_;
  PredictTimes& times_;
};

ScalingPoint point_of(const Prediction& prediction) {
  ScalingPoint point;
  point.ranks = prediction.n_ranks();
  point.nodes = static_cast<int>(prediction.ranks_per_node.size());
  point.rows_of_a_rank = static_cast<double>(prediction.levels.front().rows) / point.ranks;
  point.work_s = prediction.work_s();
  point.first_route = prediction.cycle(0);
  point.best_by_formula = prediction.cycle(prediction.best(by_formula));
  point.best_by_simulation = prediction.cycle(prediction.best(by_simulation));
  return point;
}

}  // namespace

ExitCode predict_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& given,
                         std::span<const std::string> command_line) {
  Settings settings = given;
  check_one_process(*world, "predicts");
  const model::Machine costs = find_costs(settings);
  const std::vector<int> counts = parse_rank_counts(settings.predict.rank_counts);
  virtual_machine(settings);                     // refuse what does not fit before the work
  visits_of_cycle(settings.amg, true, 1, true);  // likewise
  if (!settings.result.json.empty()) check_writable(settings.result.json);
  Console console(world->is_root(), settings.console);
  PredictRecord record;
  record.command_line.assign(command_line.begin(), command_line.end());
  record.machine = describe(costs);
  LoadedMatrix loaded;
  record.times.read = timed(*world, [&] { loaded = load_matrix(*world, world, settings); });
  check_shape(*loaded.A);
  record.matrix = describe_matrix(loaded, settings);
  record.preset = apply_preset(*loaded.A, record.matrix.symmetric, settings);

  Predictor predictor(loaded, record.matrix.symmetric, costs, settings, console, record.times);
  const int n_ranks = settings.virtual_machine.virtual_ranks;
  record.prediction = predictor.predict_on(n_ranks, true);
  for (const int count : counts) {
    record.scaling.push_back(
        point_of(count == n_ranks ? record.prediction : predictor.predict_on(count, false)));
  }
  record.memory = measure_memory(*world);
  const std::string& path = settings.result.json;
  if (!path.empty()) write_text_file(path, predict_json(record, settings));
  print_prediction(console, record, settings);
  return ExitCode::success;
}

}  // namespace nodewise::cli
