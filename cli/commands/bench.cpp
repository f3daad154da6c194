// `nodewise bench`.
#include "nodewise/roofline/bench.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/problems/laplace.hpp"
#include "nodewise/mpi/memory.hpp"
#include "nodewise/predict/placed_rows.hpp"
#include "nodewise/report/bench_json.hpp"
#include "nodewise/roofline/overlap.hpp"
#include "nodewise/solver/amg2023.hpp"
#include "nodewise/solver/solver.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/bench_tables.hpp"
#include "cli/print/console.hpp"
#include "cli/print/overlap_tables.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

namespace {

/// A line for every run on a terminal only.
roofline::Progress bench_progress(Console& console) {
  roofline::Progress progress;
  progress.begin = part_progress(console);
  if (!console.is_live()) return progress;
  progress.kernel = [&console](double seconds, std::size_t k, std::size_t n, std::size_t times) {
    console.progress(fmt::format("  {:>7}   kernel {} of {}, {}", human_seconds(seconds), k + 1, n,
                                 counted(static_cast<std::int64_t>(times), "time")));
  };
  return progress;
}

/// What `nodewise bench` measures.
enum class Subject { spmv, overlap, amg2023 };
constexpr std::array<const char*, 3> subject_names = {"spmv", "overlap", "amg2023"};

bool measures(const Settings& settings, Subject subject) {
  return settings.benchmark == subject_names[std::size_t(subject)];
}

/// `--problem 1` of AMG2023, which is a model problem.
std::vector<std::string> rewrite_bench(std::span<const std::string> words) {
  std::vector<std::string> all(words.begin(), words.end());
  const char* const amg2023 = subject_names[std::size_t(Subject::amg2023)];
  if (std::find(all.begin(), all.end(), amg2023) == all.end()) return all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_behind = i > 0 && (all[i - 1] == "--problem" || all[i - 1] == "-p");
    const std::string joined = "--problem=";
    const bool is_joined = all[i].starts_with(joined);
    if (!is_behind && !is_joined) continue;
    const std::string number = is_joined ? all[i].substr(joined.size()) : all[i];
    if (number != "1" && number != "2") {
      fail_usage(fmt::format("AMG2023 has --problem 1 and 2, and no '{}'", number));
    }
    all[i] = (is_joined ? joined : "") + (number == "1" ? "laplace27" : "laplace7");
  }
  return all;
}

/// Takes what is given of the benchmark AMG2023, which makes its matrix itself.
void take_amg2023(Settings& s) {
  if (!s.files.empty()) {
    fail_usage(fmt::format("bench amg2023 makes its own matrix; it takes no '{}'", s.files[0]));
  }
  for (const char* name : {"coefficients", "seconds", "vectors", "no-cycle"}) {
    if (s.has(name)) fail_usage(fmt::format("bench amg2023 takes no --{}", name));
  }
  if (!s.has("problem")) s.given.insert("problem");  // laplace27, which is problem 1
}

/// Takes the word that says what to measure from the arguments, which are then those of a matrix.
void take_benchmark(Settings& s) {
  if (s.files.empty()) {
    fail_usage("bench needs to be told what to measure: nodewise bench spmv A.mtx");
  }
  const auto* const found = std::find(subject_names.begin(), subject_names.end(), s.files[0]);
  if (found == subject_names.end()) {
    // A benchmark misspelt, or one left out before the matrix.
    const std::vector<std::string> known(subject_names.begin(), subject_names.end());
    const int nearest = nearest_name(s.files[0], known);
    const bool misspelt = nearest >= 0 || s.files.size() > 1;
    const std::size_t matrix = misspelt ? 1 : 0;
    fail_usage(fmt::format("there is no benchmark '{}'; did you mean 'nodewise bench {}{}'?",
                           s.files[0], subject_names[nearest < 0 ? 0U : unsigned(nearest)],
                           matrix < s.files.size() ? " " + s.files[matrix] : ""));
  }
  s.benchmark = *found;
  s.files.erase(s.files.begin());
  if (measures(s, Subject::amg2023)) return take_amg2023(s);
  take_matrix(s);
}

/// Collective. Throws where measuring needs more memory than there is.
void check_bench_memory(const mpi::Comm& world, const Settings& settings, double bytes) {
  if (settings.source.ignore_memory_check) return;
  mpi::check_memory(world, bytes, "the vectors to measure with");
}

/// The bandwidth of the memory, and every kernel of every level against what it allows.
void measure_all_kernels(Console& console, const mpi::Comm& world, const predict::Problem& problem,
                         const amg::Hierarchy<double>* hierarchy, const Settings& settings,
                         BenchRecord& record) {
  const roofline::Subject subject = {problem.A, hierarchy, problem.options,
                                     record.run.matrix.symmetric};
  check_bench_memory(world, settings,
                     roofline::memory_need(subject, record.run.machine, settings.bench));
  if (!console.is_live()) console.line("\nMeasuring");
  record.measured = roofline::measure_kernels(subject, record.run.machine, settings.bench,
                                              bench_progress(console));
}

/// Products and a cycle in all ways of computing beside messages.
void measure_all_overlaps(Console& console, const mpi::Comm& world,
                          const matrix::DistMatrix<double>& A,
                          const amg::Hierarchy<double>* hierarchy, const Settings& settings,
                          BenchRecord& record) {
  const double need =
      roofline::overlap_memory_need(A, hierarchy, record.run.machine, settings.bench);
  check_bench_memory(world, settings, need);
  if (!console.is_live()) console.line("\nMeasuring");
  record.overlap = roofline::measure_overlap(A, hierarchy, record.run.machine, settings.bench,
                                             bench_progress(console));
}

/// Throws Failure{usage} where it cannot be run on so many ranks.
solver::Amg2023Problem amg2023_problem(const Settings& s, int ranks) {
  solver::Amg2023Problem problem;
  const io::GalleryOptions& given = s.gallery;
  problem.number = given.problem == "laplace27" ? 1 : 2;
  if (s.has("n")) problem.points = {given.n, given.n, given.n};
  if (given.n_y > 0) problem.points = {given.n, given.n_y, given.n_z};
  problem.processors = {ranks, 1, 1};
  const auto& processors = given.problem.options<io::problems::LaplaceOptions>().processors;
  if (!processors.empty()) {
    std::copy(processors.begin(), processors.end(), problem.processors.begin());
  }
  const auto& p = problem.processors;
  if (double(p[0]) * p[1] * p[2] != ranks) {
    fail_usage(fmt::format("--processors {} are {:.0f} ranks, but the program runs on {}",
                           fmt::join(p, " "), double(p[0]) * p[1] * p[2], ranks));
  }
  return problem;
}

/// Sets up and solves as AMG2023 has it: right-hand side ones, start zero.
solver::Amg2023Record solve_amg2023(Console& console, const LoadedMatrix& loaded,
                                    const solver::Amg2023Problem& problem, Settings& settings,
                                    report::RunFrame& run) {
  solver::Options options = solver_options(settings);
  solver::set_amg2023_solve(problem, options);
  SetupObservers observe;
  if (console.is_live()) observe.level = level_progress(console);
  Solver solver(loaded.A, options, make_problem(loaded, settings), observe);
  const std::vector<double> b(static_cast<std::size_t>(loaded.A->rows().n_local()), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const solver::SolveRecord& solve = solver.solve(b, x);
  adopt(solver.options(), settings);
  run.preset = solve.preset;
  run.options = reported_options(settings);
  return solver::amg2023_record(problem, solve);
}

ExitCode run_amg2023(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  const std::string& path = settings.result.json;
  on_root(*world, [&] { check_writable(path); });
  Console console(world->is_root(), settings.console);
  const auto comm = run::place(*world, settings.placement, settings.communication);
  const solver::Amg2023Problem problem = amg2023_problem(settings, comm->size());
  settings.gallery = solver::amg2023_matrix(problem);
  BenchRecord record;
  record.run = begin_run(console, *comm, call);
  const LoadedMatrix loaded = load_matrix(*world, comm, settings);
  record.run.matrix = describe_matrix(loaded, settings);
  record.amg2023 = solve_amg2023(console, loaded, problem, settings, record.run);
  on_root(*world, [&] {
    if (!path.empty()) write_text_file(path, report::amg2023_json(*record.amg2023, record.run));
    print_amg2023(console, record);
    if (!record.amg2023->converged) {
      print_error("nodewise: the solver did not converge: there is no figure of merit\n");
    }
  });
  return record.amg2023->converged ? ExitCode::success : ExitCode::not_converged;
}

ExitCode run_bench(const Call& call) {
  if (measures(call.settings, Subject::amg2023)) return run_amg2023(call);
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  settings.bench.seconds = settings.calibrate.seconds;
  const std::string& path = settings.result.json;
  on_root(*world, [&] { check_writable(path); });
  Console console(world->is_root(), settings.console);
  const auto comm = run::place(*world, settings.placement, settings.communication);
  const bool of_overlap = measures(settings, Subject::overlap);
  BenchRecord record;
  record.run = begin_run(console, *comm, call);
  const predict::Problem problem = predict::with_placed_rows(
      load_problem(*world, comm, Shape::square, settings, record.run), nullptr);

  std::optional<amg::Hierarchy<double>> hierarchy;
  if (!settings.bench.no_cycle) {
    if (!console.is_live()) console.line("Setup");
    hierarchy.emplace(problem.A, problem.options, problem.info, level_progress(console));
  }
  const amg::Hierarchy<double>* const levels = hierarchy ? &*hierarchy : nullptr;
  if (of_overlap) {
    measure_all_overlaps(console, *world, *problem.A, levels, settings, record);
  } else {
    measure_all_kernels(console, *world, problem, levels, settings, record);
  }
  if (!console.is_live()) console.line();

  on_root(*world, [&] {
    if (!path.empty()) {
      write_text_file(path, of_overlap ? report::overlap_json(*record.overlap, record.run)
                                       : report::bench_json(record.measured, record.run));
    }
    of_overlap ? print_overlap(console, record) : print_bench(console, record);
  });
  return ExitCode::success;
}

}  // namespace

const Command& bench_command() {
  static const Command command = {
      {"bench", "measure kernels beside the memory's bandwidth, overlapping, and AMG2023", ""},
      {.usage = "spmv|overlap A.mtx|-p NAME | amg2023",
       .examples = {"bench spmv A.mtx",
                    "bench spmv -p laplace7 -n 100 --seconds 20 --json bench.json",
                    "bench spmv A.mtx --vectors 8", "bench overlap A.mtx --threads 2",
                    "bench amg2023 --problem 2 --n 40 40 40 --processors 2 2 1  # n of each rank"},
       .takes = Affects::matrix | Affects::rows | Affects::levels | Affects::kernels |
                Affects::travel | Affects::placement | Affects::real_run | Affects::kernel_times |
                Affects::report | Affects::console,
       .take_arguments = take_benchmark,
       .run = run_bench,
       .rewrite = rewrite_bench}};
  return command;
}

}  // namespace nodewise::cli
