#include "cli/commands/tune.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/run/timed.hpp"
#include "nodewise/solve/diagonal_preconditioner.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "cli/agreed.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/machine.hpp"
#include "cli/method.hpp"
#include "cli/print/console.hpp"
#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"
#include "cli/tune_record.hpp"

namespace nodewise::cli {

namespace {

/// A candidate that takes so many times the best time so far is given up.
constexpr double hopeless = 4;
/// But not before so many seconds: short times are noise.
constexpr double least_patience = 1;

using Preconditioner = std::unique_ptr<const solve::Operator<double>>;

/// Collective. Sets up what the settings ask for.
Preconditioner make_preconditioner(const std::shared_ptr<const Matrix>& A,
                                   amg::ProblemInfo<double> knowledge, const Settings& settings,
                                   Trial& trial) {
  if (settings.method.preconditioner == PreconditionerChoice::none) return nullptr;
  if (settings.method.preconditioner == PreconditionerChoice::jacobi) {
    return std::make_unique<solve::DiagonalPreconditioner>(*A);
  }
  auto hierarchy =
      std::make_unique<const amg::Hierarchy<double>>(A, settings.amg, std::move(knowledge));
  trial.operator_complexity = hierarchy->operator_complexity();
  trial.memory_bytes = static_cast<std::int64_t>(hierarchy->memory_bytes());
  return hierarchy;
}

/// Collective. One candidate, given up when its setup and solve take longer than `limit`.
void run_trial(const System& system, const Settings& settings, const MatrixFacts& matrix_facts,
               double limit, Trial& trial) {
  const mpi::Comm& comm = system.A->comm();
  const solve::Method method = choose_method(settings, matrix_facts);
  trial.method = solve::to_string(method);
  check_method(method, settings);
  const bool amg = settings.method.preconditioner == PreconditionerChoice::amg;
  amg::ProblemInfo<double> knowledge;
  if (amg) knowledge = make_knowledge(*system.A, matrix_facts.symmetric, settings);
  Preconditioner preconditioner;
  std::shared_ptr<const Matrix> matrix;
  trial.setup = run::timed(comm, [&] {
    matrix = matrix_of_solve(system.A, settings);
    preconditioner = make_preconditioner(matrix, std::move(knowledge), settings, trial);
  });
  trial.memory_bytes = mpi::sum(comm, trial.memory_bytes);
  const solve::MatrixOperator<double> A(matrix);
  std::vector<double> x(system.b.size(), 0.0);
  solve::Report report;
  const Timer timer;
  const double left = limit - trial.setup;
  trial.solve = run::timed(comm, [&] {
    report = solve::solve_by<double>(method, A, preconditioner.get(), system.b, x, settings.solver,
                                     [&](int, double) { return timer.seconds() < left; });
  });
  trial.iterations = report.iterations;
  trial.converged = report.converged();
  if (report.outcome == solve::Outcome::interrupted) {
    trial.reason = fmt::format("given up after {}", human_seconds(trial.total()));
  } else if (!report.converged()) {
    trial.reason = fmt::format("{}: {}", solve::to_string(report.outcome), report.diagnosis);
  }
}

/// Runs the trial; what makes it fail on every rank is its reason.
void try_candidate(const System& system, const Candidate& candidate, const MatrixFacts& matrix,
                   double limit, Trial& trial) {
  try {
    run_trial(system, candidate.settings, matrix, limit, trial);
  } catch (const Failure& failure) {
    if (failure.code() == ExitCode::internal) throw;
    trial.reason = failure.what();
  } catch (const Error& error) {
    // MPI and defects may have left the ranks apart.
    if (exit_code(error.code()) == ExitCode::internal) throw;
    trial.reason = error.what();
  }
}

std::string trial_text(const Trial& trial) {
  const std::string words = trial.options.empty() ? "(the defaults)" : option_words(trial.options);
  if (!trial.converged) return words + ": " + trial.reason;
  return fmt::format("{}: {}, {}", words, human_seconds(trial.total()),
                     counted(trial.iterations, "iteration"));
}

void sort_trials(std::vector<Trial>& trials) {
  std::stable_sort(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
    if (a.converged != b.converged) return a.converged;
    return a.converged && a.total() < b.total();
  });
}

/// Collective. All candidates, as far as the time goes.
void run_trials(const System& system, const Settings& settings,
                const std::vector<Candidate>& candidates, Console& console, TuneRecord& record) {
  const mpi::Comm& comm = system.A->comm();
  double best = std::numeric_limits<double>::infinity();
  const Timer timer;
  if (!console.is_live()) console.line("Candidates");
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    // The ranks' clocks differ; the slowest decides for all.
    const double passed = mpi::max(comm, timer.seconds());
    const double left = settings.tune.max_seconds - passed;
    if (left <= 0 && k > 0) {
      record.not_tried = static_cast<int>(candidates.size() - k);
      break;
    }
    const std::string all = std::to_string(candidates.size());
    const std::string place = fmt::format("  {:>{}}/{}   ", k + 1, all.size(), all);
    Trial trial;
    trial.options = candidates[k].options;
    trial.command = command_to_paste(record, trial.options);
    if (console.is_live()) {
      console.progress(place + option_words(trial.options));
    }
    const double patience = std::max(least_patience, hopeless * best);
    try_candidate(system, candidates[k], record.matrix, std::min(left, patience), trial);
    if (trial.converged) best = std::min(best, trial.total());
    console.progress(place + trial_text(trial));
    record.trials.push_back(std::move(trial));
  }
  if (!console.is_live()) console.line();
  record.seconds = mpi::max(comm, timer.seconds());
}

void print_table(Console& console, const TuneRecord& record) {
  Table table({"setup", "solve", "sum", "iterations", "operator\ncomplexity", "memory", "options"});
  table.align_last_left();
  for (const Trial& trial : record.trials) {
    if (!trial.converged) continue;
    table.add_row(
        {human_seconds(trial.setup), human_seconds(trial.solve), human_seconds(trial.total()),
         std::to_string(trial.iterations),
         trial.operator_complexity > 0 ? fmt::format("{:.2f}", trial.operator_complexity) : "-",
         human_bytes(static_cast<double>(trial.memory_bytes)),
         trial.options.empty() ? "(the defaults)" : option_words(trial.options)});
  }
  console.line("By time to the tolerance");
  for (const std::string& line : table.lines()) console.line(line);
  console.line();
}

void print_failures(Console& console, const TuneRecord& record) {
  bool first = true;
  for (const Trial& trial : record.trials) {
    if (trial.converged) continue;
    if (first) console.line("Not converged");
    first = false;
    print_entry(console, "", trial_text(trial));
  }
  if (!first) console.line();
}

void print_tuned(Console& console, const TuneRecord& record) {
  if (record.best() != nullptr) print_table(console, record);
  print_failures(console, record);
  if (record.not_tried > 0) {
    console.line(fmt::format("{} not tried for lack of time; --max-seconds gives more",
                             counted(record.not_tried, "candidate")));
    console.line();
  }
  if (record.best() == nullptr) return;
  console.line("Best");
  console.line("  " + record.best()->command);  // in one line, to be pasted
}

}  // namespace

ExitCode tune_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings,
                      std::span<const std::string> command_line) {
  Console console(world->is_root(), settings.console);
  const std::shared_ptr<const mpi::Comm> comm =
      run::place(*world, settings.placement, settings.communication);
  const auto write = [&](auto&& work) {
    on_root(*world, [&] {
      if (!settings.result.json.empty()) work();
    });
  };
  write([&] { check_writable(settings.result.json); });

  TuneRecord record;
  record.command_line.assign(command_line.begin(), command_line.end());
  record.machine = describe_machine(*comm, settings);
  print_machine(console, record.machine);
  const LoadedMatrix loaded = load_matrix(*world, comm, settings);
  check_shape(*loaded.A);
  const System system = make_system(loaded.A, settings);
  if (system.n_rhs > 1) {
    throw Failure(ExitCode::usage, fmt::format("tune solves for one right-hand side; {} has {}",
                                               settings.rhs.rhs, system.n_rhs));
  }
  record.matrix = describe_matrix(loaded, settings);
  console.line(fmt::format("{}, {}, {}", matrix_text(record.matrix),
                           counted(record.matrix.rows, "row"),
                           counted(record.matrix.nonzeros, "nonzero")));
  console.line();

  const std::vector<Candidate> candidates =
      tune_candidates(settings, advise::problem_facts(*system.A, record.matrix.symmetric));
  run_trials(system, settings, candidates, console, record);
  sort_trials(record.trials);
  record.exit_code = record.best() ? ExitCode::success : ExitCode::not_converged;
  write([&] { write_text_file(settings.result.json, tune_json(record, settings)); });
  print_tuned(console, record);
  if (record.best() == nullptr && world->is_root()) {
    fmt::print(stderr, "nodewise: none of {} converged\n",
               counted(std::ssize(record.trials), "candidate"));
    std::fflush(stderr);
  }
  return record.exit_code;
}

}  // namespace nodewise::cli
