// `nodewise predict`.
#include "nodewise/predict/predict.hpp"

#include "nodewise/mpi/memory.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/report/predict_json.hpp"
#include "nodewise/run/memory_need.hpp"
#include "nodewise/solver/method_choice.hpp"

#include "cli/command_records.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/console.hpp"
#include "cli/print/predict_summary.hpp"
#include "cli/print/predict_tables.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

namespace {

bool is_on_gpus(const Settings& s) {
  return s.predict.memory == predict::Memory::device;
}

/// Multigrid as a solve on cards has it. Throws invalid_argument where that has no such form.
void fit_to_device(Settings& settings) {
  solver::Options options = solver_options(settings);
  options.method.device = "cuda";
  solver::choose_for_device(options);
  offload::check_for_device(*options.method.device, options.amg,
                            solve::KrylovMethod::family().find("cg"));
  settings.amg = options.amg;
}

void check_prediction(const Settings& s) {
  if (s.predict.machine.empty()) {
    fail_usage("predict needs --machine NAME or FILE, which says what messages cost");
  }
  if (!s.has_virtual_ranks()) {
    fail_usage("predict needs --virtual-ranks N, the ranks of that machine");
  }
  const bool fits_any_ranks =
      s.placement.ranks_per_node > 0 ||
      ((s.predict.threads_per_rank > 1 || is_on_gpus(s)) && s.placement.node_map.empty());
  if (s.has("rank-counts") && !fits_any_ranks) {
    fail_usage(
        "--rank-counts needs --ranks-per-node N: a list of nodes fits one number of ranks only");
  }
  if (s.has("rank-counts") && s.has("domain-map")) {
    fail_usage("give --rank-counts or --domain-map, not both");
  }
}

/// For one rank. Predicts what the exchanges of a hierarchy take on virtual ranks.
ExitCode run_predict(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  predict::check_one_process(*world, "predicts");
  if (!settings.source.ignore_memory_check) {  // before they are laid out on nodes
    const int ranks = predict::most_virtual_ranks(settings.predict, settings.virtual_machine);
    mpi::check_memory(*world, run::virtual_rank_bytes(ranks), source_name(settings));
  }
  const predict::Request request = predict::make_request(
      settings.predict, settings.virtual_machine, settings.placement, settings.method.placement);
  predict::check_predictable(settings.amg);
  const std::string& path = settings.result.json;
  check_writable(path);
  Console console(world->is_root(), settings.console);
  const bool chooses_redistribution = !settings.has("redistribution");
  if (chooses_redistribution) {
    settings.amg.redistribution = predict::usual_redistribution(request.machine.topology);
  }
  PredictRecord record;
  record.run.command_line.assign(call.words.begin(), call.words.end());
  predict::Problem problem = load_problem(*world, world, Shape::square, settings, record.run);
  problem.chooses_redistribution = chooses_redistribution && !is_on_gpus(settings);
  if (is_on_gpus(settings)) {
    fit_to_device(settings);
    problem.options = settings.amg;
    record.run.options = reported_options(settings);
  }
  record.result = predict::predict(problem, request, predict_progress(console));
  if (console.wants_lines()) console.line();
  record.run.memory = mpi::measure_memory(*world);
  if (!path.empty()) write_text_file(path, report::predict_json(record.result, record.run));
  print_prediction_summary(console, record, settings);
  if (settings.result.details) {
    console.line();
    print_prediction_tables(console, record.result);
  }
  return ExitCode::success;
}

}  // namespace

const Command& predict_command() {
  static const Command command = {
      {"predict", "predict what the levels cost on a machine described by a file, on any ranks",
       ""},
      {.usage = "A.mtx | --problem NAME",
       .examples = {"predict A.mtx -m blue-waters --virtual-ranks 256 --ranks-per-node 16",
                    "predict A.mtx -m my.json --virtual-ranks 64 --ranks-per-node 16 --rank-counts "
                    "64,256",
                    "predict A.mtx -m summit --virtual-ranks 192 --memory device",
                    "predict -p laplace7 -n 40 -m eos --virtual-ranks 64 --ranks-per-node 32"},
       .takes = Affects::matrix | Affects::rows | Affects::levels | Affects::exchanges |
                Affects::placement | Affects::virtual_ranks | Affects::counts |
                Affects::prediction | Affects::report | Affects::details | Affects::console,
       .take_arguments = take_matrix,
       .run = run_predict,
       .check = check_prediction}};
  return command;
}

}  // namespace nodewise::cli
