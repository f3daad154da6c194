// `nodewise solve`.
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/report/solve_json.hpp"
#include "nodewise/run/timed.hpp"
#include "nodewise/solver/solver.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/page_advice.hpp"
#include "cli/exit_code.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/interruption.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/console.hpp"
#include "cli/print/findings.hpp"
#include "cli/print/profile.hpp"
#include "cli/print/progress.hpp"
#include "cli/print/right_hand_sides.hpp"
#include "cli/print/summary.hpp"

namespace nodewise::cli {

namespace {

/// Refuses, before any work, what could not be written after it.
void check_outputs(const mpi::Comm& comm, const ResultOptions& result) {
  on_root(comm, [&] {
    if (!result.output.empty()) {
      io::format_of_name(result.output);  // throws where the ending is not known
      check_writable(result.output);
    }
    check_writable(result.json);
  });
}

/// Takes what the solver knows. The environment, with what the options say of it, and the time of
/// reading are known already.
void take(const solver::SolveRecord& known, SolveRecord& record) {
  const run::Environment machine = record.machine;
  const double read = record.times.read;
  static_cast<solver::SolveRecord&>(record) = known;
  record.machine = machine;
  record.times.read = read;
}

std::string solve_report(const SolveRecord& record, const Settings& settings) {
  report::SolveFrame frame;
  frame.command_line = record.command_line;
  frame.options = reported_options(settings);
  frame.traffic = record.traffic ? &*record.traffic : nullptr;
  frame.prediction = record.prediction ? &*record.prediction : nullptr;
  frame.pictures = record.pictures;
  frame.solution_file = record.solution_file;
  frame.exit_code = static_cast<int>(record.exit_code);
  return report::solve_json(record, frame);
}

/// Collective. Writes the solution and the report.
void write_results(const comm::Layout& rows, const solver::RightHandSides& rhs,
                   std::span<const double> x, const Settings& settings, SolveRecord& record) {
  const ResultOptions& result = settings.result;
  if (!result.output.empty() && (record.converged() || result.output_anyway)) {
    about_files(ExitCode::output_file,
                [&] { io::write_vectors<double>(result.output, rows, x, rhs.count); });
    record.solution_file = result.output;
  }
  record.memory = mpi::measure_memory(rows.comm());
  on_root(rows.comm(), [&] {
    if (!result.json.empty()) write_text_file(result.json, solve_report(record, settings));
  });
}

void print_results(Console& console, const SolveRecord& record, const Settings& settings) {
  const bool details = settings.result.details;
  print_hierarchy(console, record, details);
  if (console.is_live() && details) print_history(console, record.report());
  if (settings.result.profile) {
    print_profile(console, record);
    if (record.machine.ranks > 1) print_collectives(console, record.collectives);
  }
  print_findings(console, record.findings);
  const bool are_few = record.reports.size() <= 8;
  if (details || are_few || !record.converged()) print_right_hand_sides(console, record);
  print_outcome(console, record, settings);
}

/// Collective. The solver of the matrix, which is set up.
Solver make_solver(const LoadedMatrix& loaded, const solver::RightHandSides& rhs,
                   Settings& settings, Console& console, SolveRecord& record) {
  SetupObservers observe;
  observe.level = level_progress(console);
  observe.chosen = [&](const solver::SolveRecord& chosen) {
    take(chosen, record);
    name_options(record);
    record.rhs = rhs.kind;
    record.n_rhs = rhs.count;
    record.at_once = solver::solves_at_once(*chosen.method, rhs.count);
    print_system(console, record, settings);
    if (!console.is_live() && record.preconditioner == "amg") console.line("Setup");
  };
  Solver solver(loaded.A, solver_options(settings), make_problem(loaded, settings), observe);
  adopt(solver.options(), settings);
  if (!console.is_live() && solver.hierarchy() != nullptr) console.line();
  return solver;
}

/// Collective. What a profile and a report have besides, which takes time of its own after the
/// solve: nothing where neither is wanted.
void look_closer(const Solver& solver, const Settings& settings, SolveRecord& record) {
  const bool reports = !settings.result.json.empty();
  const model::Machine* const machine = settings.amg.machine.get();
  const bool compares = reports && machine != nullptr;
  const bool of_blocks =
      record.at_once || (*record.method->cost)(record.method).vectors_at_once > 1;
  if (settings.result.profile || compares) {
    record.traffic = roofline::traffic_of_solve(
        {record.solve_accounts, record.machine, record.matrix.symmetric, of_blocks},
        *solver.matrix(), solver.hierarchy(), settings.amg);
  }
  if (compares && !of_blocks) {
    record.prediction = predict::predict_solve(*solver.matrix(), solver.hierarchy(),
                                               record.matrix.symmetric, *machine);
  }
  if (reports) record.pictures = report::level_pictures(*solver.matrix(), solver.hierarchy());
}

/// Says of what ended by the observer that a signal had come.
void explain_interruptions(SolveRecord& record) {
  for (solve::Report& report : record.reports) {
    if (report.outcome != solve::Outcome::interrupted) continue;
    report.diagnosis =
        fmt::format("a signal ended the solve after {}", counted(report.iterations, "iteration"));
  }
}

/// The one message of a solve that did not converge; the summary, unless silenced, has the details.
void print_failure(const SolveRecord& record, const Settings& settings) {
  const solve::Report& report = record.report();
  const std::string which = record.n_rhs > 1
                                ? fmt::format(" for right-hand side {}: {}", record.worst + 1,
                                              right_hand_sides_text(record))
                                : "";
  print_error(fmt::format("nodewise: the solver did not converge{} ({}){}\n", which,
                          solve::to_string(report.outcome),
                          settings.console.quiet ? ": " + report.diagnosis : std::string()));
}

/// The machine serves to choose routes, and the ranks and entries of levels, to say what memory
/// allows, and to predict what a report has beside the measured times.
void check_solve(const Settings& s) {
  if (!s.asks_for_costs() && !s.result.profile && s.result.json.empty() && s.has("machine")) {
    fail_usage(
        "--machine is for --route automatic, --redistribution automatic, --sparsification "
        "automatic, --partition automatic, --placement, --device, --profile, or --json");
  }
  if (!s.result.report.empty()) fail_usage(page_advice(s.result.report));
  if (s.result.output_anyway && s.result.output.empty()) {
    fail_usage("--output-anyway needs --output FILE");
  }
}

/// Loads or makes the system, solves it, prints and writes what the settings ask for.
ExitCode run_solve(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  Console console(world->is_root(), settings.console);
  const std::shared_ptr<const mpi::Comm> comm =
      run::place(*world, settings.placement, settings.communication);
  check_outputs(*world, settings.result);
  take_machine(*comm, settings);

  SolveRecord record;
  record.command_line.assign(call.words.begin(), call.words.end());
  record.machine = describe_machine(*comm, settings);
  print_machine(console, record.machine);

  LoadedMatrix loaded;
  solver::RightHandSides rhs;
  std::vector<double> x;
  record.times.read = run::timed(*comm, [&] {
    loaded = load_matrix(*world, comm, settings);
    check_shape(*loaded.A);
    rhs = make_right_hand_sides(*loaded.A, settings);
    x = first_guess(*loaded.A, rhs, settings);
  });
  if (!settings.result.output.empty()) {
    io::require_room_for_vectors(settings.result.output, rhs.count);
  }
  Solver solver = make_solver(loaded, rhs, settings, console, record);
  loaded.A = nullptr;

  if (!console.is_live()) console.line("Solve");
  {
    const Interruptible first_signal_ends_the_iteration;
    take(solver.solve_all(rhs.values, x, rhs.count, group_progress(console)), record);
  }
  adopt(solver.options(), settings);  // `auto` may have gone another way
  explain_interruptions(record);
  if (!console.is_live()) console.line();
  record.rhs = rhs.kind;
  record.error = solver::solution_error(solver.layout(), rhs, x);
  name_options(record);
  look_closer(solver, settings, record);
  record.exit_code = record.converged() ? ExitCode::success : ExitCode::not_converged;
  write_results(solver.layout(), rhs, x, settings, record);
  print_results(console, record, settings);
  if (!record.converged() && comm->is_root()) print_failure(record, settings);
  return record.exit_code;
}

}  // namespace

const Command& solve_command() {
  static const Command command = {
      {"solve", "solve A x = b and report how it went", ""},
      {.usage = "A.mtx | --problem NAME",
       .examples = {"solve A.mtx -o x.mtx  # b = A 1; multigrid and the method by the matrix",
                    "solve A.mtx --rhs b.mtx -t 1e-10 --json report.json",
                    "solve -p laplace7 -n 50 --solver gmres --smoother jacobi"},
       .takes = Affects::matrix | Affects::rows | Affects::right_hand_side | Affects::levels |
                Affects::exchanges | Affects::kernels | Affects::travel | Affects::setup_travel |
                Affects::iterations | Affects::placement | Affects::real_run | Affects::solution |
                Affects::report | Affects::details | Affects::console,
       .take_arguments = take_matrix,
       .run = run_solve,
       .check = check_solve,
       .chooses_routes = true}};
  return command;
}

}  // namespace nodewise::cli
