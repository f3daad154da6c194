// `nodewise eigen`.
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/eigen/eigenpairs.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/report/eigen_json.hpp"
#include "nodewise/run/timed.hpp"
#include "nodewise/solve/diagonal_preconditioner.hpp"
#include "nodewise/solve/matrix_operator.hpp"
#include "nodewise/solve/vector_ops.hpp"
#include "nodewise/solver/solver.hpp"

#include "cli/agreed.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/interruption.hpp"
#include "cli/options/catalog.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/console.hpp"
#include "cli/print/eigen_tables.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

namespace {

using report::EigenRecord;

bool gives_preconditioner(const Settings& s) {
  return s.has("preconditioner") && s.method.preconditioner != "none";
}

void check_eigen(const Settings& s) {
  if (!s.asks_for_costs() && s.has("machine")) {
    fail_usage(
        "--machine is for --route automatic, --redistribution automatic, or "
        "--sparsification automatic");
  }
  if (s.result.output_anyway && s.result.output.empty()) {
    fail_usage("--output-anyway needs --output FILE");
  }
  const Choice<eigen::EigenMethod>& method = s.eigen.eigensolver;
  if (!method.is_automatic() && !method->takes_mass && !s.mass.mass.empty()) {
    fail_usage(fmt::format("--mass needs --eigensolver lobpcg; {} solves A x = lambda x alone",
                           method.name()));
  }
  if (!gives_preconditioner(s)) return;
  if (!method.is_automatic() && !method->takes_preconditioner) {
    fail_usage(fmt::format("--preconditioner {} has no effect with --eigensolver {}",
                           s.method.preconditioner.name(), method.name()));
  }
  if (s.eigen.which == eigen::Which::largest) {
    fail_usage(
        fmt::format("--preconditioner {} is for --which smallest", s.method.preconditioner.name()));
  }
}

/// Refuses, before any work, what could not be written after it.
void check_eigen_outputs(const mpi::Comm& comm, const Settings& settings) {
  const ResultOptions& result = settings.result;
  on_root(comm, [&] {
    if (!result.output.empty()) {
      io::format_of_name(result.output);  // throws where the ending is not known
      check_writable(result.output);
      io::require_room_for_vectors(result.output, settings.eigen.pairs);
    }
    check_writable(result.json);
  });
}

/// Collective. Refuses a matrix that is not symmetric, or has entries that are no numbers.
void require_symmetric(const Matrix& A, bool is_symmetric, const std::string& name) {
  if (is_symmetric) return;
  const auto bad = static_cast<std::int64_t>(solve::count_not_finite<double>(A.on().vals) +
                                             solve::count_not_finite<double>(A.off().vals));
  const std::int64_t all_bad = mpi::sum(A.comm(), bad);
  const std::string fault =
      all_bad > 0 ? "has " + counted(all_bad, "entry that is", "entries that are") + " not finite"
                  : "is not symmetric: `nodewise eigen` is for symmetric matrices";
  throw Failure(ExitCode::unsuitable_matrix, name + " " + fault);
}

/// The matrices of the problem.
struct Matrices {
  LoadedMatrix A, B;
};

/// Collective.
Matrices load_matrices(const mpi::Comm& world, const std::shared_ptr<const mpi::Comm>& comm,
                       const Settings& settings, EigenRecord& record) {
  Matrices loaded;
  loaded.A = load_matrix(world, comm, settings);
  check_shape(*loaded.A.A);
  record.run.matrix = describe_matrix(loaded.A, settings);
  require_symmetric(*loaded.A.A, record.run.matrix.symmetric, record.run.matrix.source);
  if (settings.eigen.pairs > loaded.A.A->rows().n_global()) {
    fail_usage(fmt::format("--pairs: {} are wanted, but the matrix has {} rows",
                           settings.eigen.pairs, loaded.A.A->rows().n_global()));
  }
  if (settings.mass.mass.empty()) return loaded;
  loaded.B = load_mass(*loaded.A.A, settings);
  record.mass = solver::summarize(*loaded.B.A, {.source = settings.mass.mass,
                                                .format = loaded.B.summary.format,
                                                .duplicates = loaded.B.summary.duplicates});
  require_symmetric(*loaded.B.A, record.mass.symmetric, "--mass: " + settings.mass.mass);
  return loaded;
}

/// Collective. Decides by the matrix what the options leave open.
void choose_eigensolver(const Matrices& loaded, Settings& settings, EigenRecord& record) {
  eigen::Options& options = settings.eigen;
  record.method_was_chosen = options.eigensolver.is_automatic();
  if (record.method_was_chosen) {
    options.eigensolver = eigen::choose_eigensolver(loaded.A.A, loaded.B.A != nullptr,
                                                    gives_preconditioner(settings), options.which);
  }
  const bool takes = options.eigensolver->takes_preconditioner;
  if (!takes || options.which == eigen::Which::largest) settings.method.preconditioner = "none";
  options.tolerance = settings.solver.tolerance;
  options.max_iterations = settings.solver.max_iterations;
  record.method = options.eigensolver;
  record.which = options.which;
  record.tolerance = options.tolerance;
  record.preconditioner = settings.method.preconditioner.name();
}

/// Collective. The matrix with its routes, and the preconditioner.
Solver make_eigen_solver(const Matrices& loaded, Settings& settings, Console& console,
                         EigenRecord& record) {
  SetupObservers observe;
  observe.level = level_progress(console);
  Solver solver(loaded.A.A, solver_options(settings), make_problem(loaded.A, settings), observe);
  adopt(solver.options(), settings);
  const solver::SolveRecord& known = solver.record();
  record.run.preset = known.preset;
  record.levels = known.levels;
  record.operator_complexity = known.operator_complexity;
  record.unused = known.unused;
  record.times.setup = known.times.setup;
  record.run.options = reported_options(settings);
  return solver;
}

/// Collective.
eigen::Eigenpairs find_pairs(const Solver& solver, const Matrices& loaded, const Settings& settings,
                             Console& console, EigenRecord& record) {
  const mpi::Comm& comm = loaded.A.A->comm();
  const solve::MatrixOperator<double> A(solver.matrix());
  std::unique_ptr<solve::MatrixOperator<double>> B;
  std::unique_ptr<solve::DiagonalPreconditioner> of_B;
  if (loaded.B.A != nullptr) {
    B = std::make_unique<solve::MatrixOperator<double>>(loaded.B.A);
    of_B = std::make_unique<solve::DiagonalPreconditioner>(*loaded.B.A);
  }
  comm.ledger().clear();
  eigen::Eigenpairs found;
  record.times.solve = run::timed(comm, [&] {
    const Interruptible first_signal_ends_the_search;
    found = eigen::find_eigenpairs({A, B.get(), solver.preconditioner(), of_B.get()},
                                   settings.eigen, interruptible(iteration_progress(console)));
  });
  record.accounts = mpi::over_ranks(comm);
  record.found = found.report;
  if (record.found.outcome == solve::Outcome::interrupted) {
    record.found.diagnosis =
        fmt::format("a signal ended the search after {}",
                    counted(record.found.iterations, *record.method->iteration));
  }
  return found;
}

/// Collective. Writes the vectors and the report.
void write_eigenpairs(const comm::Layout& rows, std::span<const double> vectors,
                      const Settings& settings, EigenRecord& record) {
  const ResultOptions& result = settings.result;
  const bool wanted = record.found.converged() || result.output_anyway;
  if (!result.output.empty() && wanted && !record.found.pairs.empty()) {
    about_files(ExitCode::output_file, [&] {
      io::write_vectors<double>(result.output, rows, vectors, settings.eigen.pairs);
    });
    record.vectors_file = result.output;
  }
  record.run.memory = mpi::measure_memory(rows.comm());
  on_root(rows.comm(), [&] {
    if (!result.json.empty()) write_text_file(result.json, report::eigen_json(record));
  });
}

/// Loads or makes the matrices, finds the pairs, prints and writes what the settings ask for.
ExitCode run_eigen(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  Console console(world->is_root(), settings.console);
  const std::shared_ptr<const mpi::Comm> comm =
      run::place(*world, settings.placement, settings.communication);
  check_eigen_outputs(*world, settings);
  take_machine(*comm, settings);
  EigenRecord record;
  record.run = begin_run(console, *comm, call);
  Matrices loaded;
  record.times.read =
      run::timed(*comm, [&] { loaded = load_matrices(*world, comm, settings, record); });
  choose_eigensolver(loaded, settings, record);
  const Solver solver = make_eigen_solver(loaded, settings, console, record);
  print_eigenproblem(console, record);
  const eigen::Eigenpairs found = find_pairs(solver, loaded, settings, console, record);
  const ExitCode code = record.found.converged() ? ExitCode::success : ExitCode::not_converged;
  record.exit_code = static_cast<int>(code);
  write_eigenpairs(loaded.A.A->rows(), found.vectors, settings, record);
  if (console.wants_lines()) console.line();
  print_eigenpairs(console, record, settings);
  if (code != ExitCode::success && comm->is_root()) {
    print_error(fmt::format("nodewise: the eigensolver did not converge ({}): {}\n",
                            solve::to_string(record.found.outcome),
                            in_words_of_command_line(record.found.diagnosis)));
  }
  return code;
}

}  // namespace

const Command& eigen_command() {
  static const Command command = {
      {"eigen", "find the lowest or highest eigenpairs of a symmetric matrix", ""},
      {.usage = "A.mtx | --problem NAME",
       .examples = {"eigen A.mtx --pairs 8 -o vectors.mtx  # the method by the matrix",
                    "eigen K.mtx --mass M.mtx --pairs 10 --json report.json",
                    "eigen -p holstein_hubbard --eigensolver lanczos --basis 60"},
       .takes = Affects::matrix | Affects::levels | Affects::exchanges | Affects::kernels |
                Affects::travel | Affects::setup_travel | Affects::placement | Affects::real_run |
                Affects::eigenpairs | Affects::report | Affects::details | Affects::console,
       .take_arguments = take_matrix,
       .run = run_eigen,
       .check = check_eigen,
       .output = "the eigenvectors, one a column",
       .meanings = {{"tolerance",
                     "Stop when the norm of A x - lambda B x, computed from x, is at most this "
                     "times (|A| + |lambda| |B|) |x| for every pair"},
                    {"max-iterations",
                     "The most iterations of lobpcg, or the most cycles of lanczos, each of which "
                     "fills the basis"},
                    {"preconditioner", "What turns a residual into a direction of lobpcg"}},
       .chooses_routes = true}};
  return command;
}

}  // namespace nodewise::cli
