// `nodewise tune`.
#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/report/tune_json.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/options/catalog.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/command_to_paste.hpp"
#include "cli/print/console.hpp"
#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

std::string trial_text(const solver::Trial& trial) {
  const std::string words = trial.options.empty() ? "(the defaults)" : option_words(trial.options);
  if (!trial.converged) return words + ": " + in_words_of_command_line(trial.reason);
  return fmt::format("{}: {}, {}", words, human_seconds(trial.total()),
                     counted(trial.iterations, "iteration"));
}

/// A line for each candidate, at once on a terminal.
solver::TuneObservers trial_progress(Console& console) {
  const auto place = [](std::size_t k, std::size_t n) {
    const std::string all = std::to_string(n);
    return fmt::format("  {:>{}}/{}   ", k + 1, all.size(), all);
  };
  solver::TuneObservers observe;
  if (console.is_live()) {
    observe.begin = [=, &console](std::size_t k, std::size_t n, const solver::Trial& trial) {
      console.progress(place(k, n) + option_words(trial.options));
    };
  }
  observe.end = [=, &console](std::size_t k, std::size_t n, const solver::Trial& trial) {
    console.progress(place(k, n) + trial_text(trial));
  };
  return observe;
}

/// Names the options in the reasons as on the command line.
void name_options(std::vector<solver::Trial>& trials) {
  for (solver::Trial& trial : trials) trial.reason = in_words_of_command_line(trial.reason);
}

/// Of the table of candidates, without --details.
constexpr int most_lines = 8;

void print_table(Console& console, const TuneRecord& record, bool details) {
  Table table({"setup", "solve", "sum", "+", "tied", "iterations", "operator\ncomplexity", "memory",
               "options"});
  table.align_last_left();
  int converged = 0;
  for (const solver::Trial& trial : record.result.trials) {
    if (!trial.converged) continue;
    if (++converged > most_lines && !details) continue;
    table.add_row(
        {human_seconds(trial.setup), human_seconds(trial.solve), human_seconds(trial.total()),
         trial.runs > 1 ? fmt::format("{:.0f} %", 100 * trial.spread()) : "-",
         trial.is_tied ? "yes" : "", std::to_string(trial.iterations),
         trial.operator_complexity > 0 ? fmt::format("{:.2f}", trial.operator_complexity) : "-",
         human_bytes(static_cast<double>(trial.memory_bytes)),
         trial.options.empty() ? "(the defaults)" : option_words(trial.options)});
  }
  console.line("By time to the tolerance; of several runs the fastest");
  table.print(console);
  if (converged > most_lines && !details) {
    console.line(fmt::format("  and {} more: --details", converged - most_lines));
  }
  console.line(
      "  +: how much longer the slowest of up to 3 runs took. tied: with the first, by that.");
  console.line();
}

void print_failures(Console& console, const TuneRecord& record) {
  bool first = true;
  for (const solver::Trial& trial : record.result.trials) {
    if (trial.converged) continue;
    if (first) console.line("Not converged");
    first = false;
    print_entry(console, "", trial_text(trial));
  }
  if (!first) console.line();
}

void print_tuned(Console& console, const TuneRecord& record, bool details) {
  const solver::Trial* best = record.result.best();
  if (best != nullptr) {
    console.line(fmt::format("Best: {} to the tolerance, {}", human_seconds(best->total()),
                             counted(best->iterations, "iteration")));
    console.line("  " + command_to_paste(record.run, best->options));  // in one line, to be pasted
    console.line();
    print_table(console, record, details);
  }
  const auto failed = std::count_if(record.result.trials.begin(), record.result.trials.end(),
                                    [](const solver::Trial& trial) { return !trial.converged; });
  if (details || best == nullptr) {
    print_failures(console, record);
  } else if (failed > 0) {
    console.line(counted(failed, "candidate") + " did not converge: --details says why");
  }
  if (record.result.not_tried > 0) {
    console.line(fmt::format("{} not tried for lack of time; --max-seconds gives more",
                             counted(record.result.not_tried, "candidate")));
  }
}

/// What was gained by moving rows, before all trials.
void print_rows(Console& console, const solver::TuneResult& result, const Settings& settings) {
  if (!result.partition_decision && !result.placement_gain) return;
  print_decision(console, result.partition_decision);
  print_placement(console, settings.method.placement, result.placement_gain);
  console.line();
}

std::string tune_report(const TuneRecord& record, ExitCode code) {
  report::TuneFrame frame = {record.run, {}, static_cast<int>(code)};
  for (const solver::Trial& trial : record.result.trials) {
    frame.commands.push_back(command_to_paste(record.run, trial.options));
  }
  return report::tune_json(record.result, frame);
}

/// The machine serves to choose the ranks and entries of levels, and the places of parts.
void check_tune(const Settings& s) {
  if (s.has("machine") && !s.asks_for_costs()) {
    fail_usage(
        "--machine is for --redistribution automatic, --sparsification automatic, --partition "
        "automatic, --placement or --device");
  }
}

/// Solves the system with one combination of options after the other, and says which was the
/// fastest. A candidate that fails is shown with its reason and does not end the run.
ExitCode run_tune(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  Console console(world->is_root(), settings.console);
  const std::shared_ptr<const mpi::Comm> comm =
      run::place(*world, settings.placement, settings.communication);
  const std::string& path = settings.result.json;
  on_root(*world, [&] { check_writable(path); });
  take_machine(*comm, settings);

  TuneRecord record;
  record.run = begin_run(console, *comm, call);
  record.run.options = reported_options(settings);
  const LoadedMatrix loaded = load_matrix(*world, comm, settings);
  check_shape(*loaded.A);
  const solver::RightHandSides rhs = make_right_hand_sides(*loaded.A, settings);
  if (rhs.count > 1) {
    throw Failure(ExitCode::usage, fmt::format("tune solves for one right-hand side; {} has {}",
                                               settings.rhs.rhs, rhs.count));
  }
  record.run.matrix = describe_matrix(loaded, settings);
  console.line(fmt::format("{}, {}, {}", matrix_text(record.run.matrix),
                           counted(record.run.matrix.rows, "row"),
                           counted(record.run.matrix.nonzeros, "nonzero")));
  console.line();

  if (!console.is_live()) console.line("Candidates");
  record.result =
      solver::tune(loaded.A, rhs.values, solver_options(settings), settings.tune,
                   make_problem(loaded, settings), record.run.matrix, trial_progress(console));
  if (!console.is_live()) console.line();
  print_rows(console, record.result, settings);
  name_options(record.result.trials);
  const bool converged = record.result.best() != nullptr;
  const ExitCode code = converged ? ExitCode::success : ExitCode::not_converged;
  on_root(*world, [&] {
    if (!path.empty()) write_text_file(path, tune_report(record, code));
  });
  print_tuned(console, record, settings.result.details);
  if (!converged && world->is_root()) {
    print_error(fmt::format("nodewise: none of {} converged\n",
                            counted(std::ssize(record.result.trials), "candidate")));
  }
  return code;
}

}  // namespace

const Command& tune_command() {
  static const Command command = {
      {.name = "tune",
       .summary = "try combinations of options, and say which solves A x = b fastest",
       .source = "",
       .ignores = {{"preset", {}}}},
      {.usage = "A.mtx | --problem NAME",
       .examples = {"tune A.mtx  # 60 seconds at most",
                    "tune A.mtx --rhs b.mtx --max-seconds 600 --json tuned.json",
                    "tune A.mtx --method aggregation --max-candidates 8"},
       .takes = Affects::matrix | Affects::rows | Affects::right_hand_side | Affects::levels |
                Affects::exchanges | Affects::kernels | Affects::travel | Affects::setup_travel |
                Affects::iterations | Affects::placement | Affects::real_run | Affects::trials |
                Affects::report | Affects::details | Affects::console,
       .take_arguments = take_matrix,
       .run = run_tune,
       .check = check_tune,
       .tries_presets = true}};
  return command;
}

}  // namespace nodewise::cli
