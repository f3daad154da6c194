#include "cli/commands/solve.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "nodewise/io/machine_file.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/run/timed.hpp"
#include "nodewise/solve/diagonal_preconditioner.hpp"
#include "nodewise/solve/krylov.hpp"

#include "cli/agreed.hpp"
#include "cli/exit_code.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/machine.hpp"
#include "cli/method.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/options/unused_options.hpp"
#include "cli/print/collective_choices.hpp"
#include "cli/print/console.hpp"
#include "cli/print/findings.hpp"
#include "cli/print/profile.hpp"
#include "cli/print/progress.hpp"
#include "cli/print/right_hand_sides.hpp"
#include "cli/print/summary.hpp"
#include "cli/record.hpp"
#include "cli/report_json.hpp"

namespace nodewise::cli {

namespace {

/// Refuses, before any work, what could not be written after it.
void check_outputs(const mpi::Comm& comm, const ResultOptions& result) {
  on_root(comm, [&] {
    if (!result.output.empty()) {
      io::format_of_name(result.output);  // throws where the ending is not known
      check_writable(result.output);
    }
    if (!result.json.empty()) check_writable(result.json);
  });
}

using Preconditioner = std::unique_ptr<const solve::Operator<double>>;

/// Null where it is another.
const amg::Hierarchy<double>* hierarchy_of(const Preconditioner& preconditioner) {
  return dynamic_cast<const amg::Hierarchy<double>*>(preconditioner.get());
}

Preconditioner make_preconditioner(const std::shared_ptr<const Matrix>& A,
                                   amg::NearNullSpace<double>& near_null_space,
                                   const Settings& settings, Console& console,
                                   SolveRecord& record) {
  if (settings.method.preconditioner == PreconditionerChoice::none) return nullptr;
  if (settings.method.preconditioner == PreconditionerChoice::jacobi) {
    return std::make_unique<solve::DiagonalPreconditioner>(*A);
  }
  if (!console.is_live()) console.line("Setup");
  amg::ProblemInfo<double> knowledge = make_knowledge(*A, record.matrix.symmetric, settings);
  near_null_space = knowledge.near_null_space;
  auto hierarchy = std::make_unique<amg::Hierarchy<double>>(A, settings.amg, std::move(knowledge),
                                                            level_progress(console));
  record.levels.assign(hierarchy->levels().begin(), hierarchy->levels().end());
  record.grid_complexity = hierarchy->grid_complexity();
  record.operator_complexity = hierarchy->operator_complexity();
  record.precision = hierarchy->precision();
  if (!console.is_live()) console.line();
  return hierarchy;
}

std::vector<double> run_solver(const System& system, const Preconditioner& preconditioner,
                               const Settings& settings, Console& console, SolveRecord& record) {
  std::vector<double> x(system.b.size(), 0.0);
  if (!console.is_live()) console.line("Solve");
  solve_all(system, preconditioner.get(), settings, console, x, record);
  if (!console.is_live()) console.line();
  return x;
}

/// Runs a phase, returns its longest time over the ranks and has the ledger's accounts of it.
template <class Work>
double booked(const mpi::Comm& comm, std::vector<mpi::SharedAccount>& accounts, Work&& work) {
  comm.ledger().clear();
  const Timer timer;
  work();
  const double seconds = timer.seconds();
  accounts = mpi::over_ranks(comm);
  return mpi::max(comm, seconds);
}

void write_results(const System& system, std::span<const double> x, const Settings& settings,
                   SolveRecord& record) {
  const ResultOptions& result = settings.result;
  if (!result.output.empty() && (record.converged() || result.output_anyway)) {
    about_files(ExitCode::output_file, [&] {
      io::write_vectors<double>(result.output, system.A->rows(), x, system.n_rhs);
    });
    record.solution_file = result.output;
  }
  record.memory = measure_memory(system.A->comm());
  on_root(system.A->comm(), [&] {
    if (!result.json.empty()) write_text_file(result.json, report_json(record, settings));
  });
}

/// Transports are chosen unless they are given. So are routes where the ranks are on several nodes,
/// unless something about them is given, or the nodes are: there is no network to look at between
/// those.
void choose_routes_and_transports(const Machine& machine, Settings& settings) {
  if (machine.ranks > 1 && !settings.has("transport")) {
    settings.amg.transport = comm::Transport::automatic;
  }
  const bool given = settings.has("route") || settings.has("setup-route");
  if (given || machine.placement_given || machine.ranks_per_node.size() < 2) return;
  settings.amg.route = comm::Route::automatic;
}

/// The one message of a solve that did not converge; the summary, unless silenced, has the details.
void print_failure(const SolveRecord& record, const Settings& settings) {
  const solve::Report& report = record.report();
  const std::string which = record.n_rhs > 1
                                ? fmt::format(" for right-hand side {}: {}", record.worst + 1,
                                              right_hand_sides_text(record))
                                : "";
  fmt::print(stderr, "nodewise: the solver did not converge{} ({}){}\n", which,
             solve::to_string(report.outcome),
             settings.console.quiet ? ": " + report.diagnosis : std::string());
  std::fflush(stderr);
}

}  // namespace

ExitCode solve_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& given,
                       std::span<const std::string> command_line) {
  Settings settings = given;
  Console console(world->is_root(), settings.console);
  const std::shared_ptr<const mpi::Comm> comm =
      run::place(*world, settings.placement, settings.communication);
  check_outputs(*world, settings.result);
  if (!settings.predict.machine.empty()) {
    settings.amg.machine = std::make_shared<const model::Machine>(about_files(
        ExitCode::input_file, [&] { return io::find_machine(*comm, settings.predict.machine); }));
  }

  SolveRecord record;
  record.command_line.assign(command_line.begin(), command_line.end());
  record.machine = describe_machine(*comm, settings);
  choose_routes_and_transports(record.machine, settings);
  print_machine(console, record.machine);

  LoadedMatrix loaded;
  System system;
  record.times.read = run::timed(*comm, [&] {
    loaded = load_matrix(*world, comm, settings);
    check_shape(*loaded.A);
    system = make_system(loaded.A, settings);
  });
  if (!settings.result.output.empty()) {
    io::require_room_for_vectors(settings.result.output, system.n_rhs);
  }
  record.rhs = system.rhs;
  record.n_rhs = system.n_rhs;
  record.matrix = describe_matrix(loaded, settings);
  const double choosing = run::timed(
      *comm, [&] { record.preset = apply_preset(*system.A, record.matrix.symmetric, settings); });
  record.method = choose_method(settings, record.matrix);
  check_method(record.method, settings);
  record.idle = idle_options(settings, record.method);
  record.solver_was_chosen = settings.method.solver == SolverChoice::automatic;
  record.preconditioner = preconditioner_name(settings.method.preconditioner);
  record.at_once = solves_at_once(record.method, record.n_rhs);
  record.collectives = explain_collectives(*system.A, settings, record.method, record.n_rhs);
  print_system(console, record, settings);

  Preconditioner preconditioner;
  amg::NearNullSpace<double> near_null_space;
  record.times.setup =
      choosing + booked(*comm, record.setup_accounts, [&] {
        system.A = matrix_of_solve(system.A, settings);
        preconditioner = make_preconditioner(system.A, near_null_space, settings, console, record);
        if (const amg::Hierarchy<double>* M = hierarchy_of(preconditioner)) {
          system.A = matrix_as_chosen(system.A, *M, settings);
        }
      });
  record.findings =
      find_before_solve(system, hierarchy_of(preconditioner), near_null_space, settings, record);
  near_null_space = {};
  std::vector<double> x;
  record.times.solve = booked(*comm, record.solve_accounts, [&] {
    x = run_solver(system, preconditioner, settings, console, record);
  });
  if (settings.result.profile) {
    record.traffic =
        roofline::traffic_of_solve({record.solve_accounts, record.machine, record.matrix.symmetric,
                                    record.at_once || record.method == solve::Method::enlarged_cg},
                                   *system.A, hierarchy_of(preconditioner), settings.amg);
  }
  find_after_solve(record, settings);
  record.error = solution_error(system, x);
  record.exit_code = record.converged() ? ExitCode::success : ExitCode::not_converged;
  write_results(system, x, settings, record);

  print_hierarchy(console, record);
  if (console.is_live()) print_history(console, record.report());
  if (settings.result.profile) {
    print_profile(console, record);
    if (record.machine.ranks > 1) print_collectives(console, record.collectives);
  }
  print_findings(console, record.findings);
  print_right_hand_sides(console, record);
  print_outcome(console, record, settings);
  if (!record.converged() && comm->is_root()) print_failure(record, settings);
  return record.exit_code;
}

}  // namespace nodewise::cli
