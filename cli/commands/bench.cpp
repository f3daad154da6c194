// `nodewise bench`.
#include "nodewise/roofline/bench.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/mpi/memory.hpp"
#include "nodewise/predict/placed_rows.hpp"
#include "nodewise/report/bench_json.hpp"
#include "nodewise/roofline/overlap.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
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
enum class Subject { spmv, overlap };
constexpr std::array<const char*, 2> subject_names = {"spmv", "overlap"};

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

ExitCode run_bench(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  settings.bench.seconds = settings.calibrate.seconds;
  const std::string& path = settings.result.json;
  on_root(*world, [&] { check_writable(path); });
  Console console(world->is_root(), settings.console);
  const auto comm = run::place(*world, settings.placement, settings.communication);
  const bool of_overlap = settings.benchmark == subject_names[std::size_t(Subject::overlap)];
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
      {"bench", "measure kernels against the bandwidth of the memory, and what overlapping brings",
       ""},
      {.usage = "spmv|overlap A.mtx | spmv|overlap --problem NAME",
       .examples = {"bench spmv A.mtx",
                    "bench spmv -p laplace7 -n 100 --seconds 20 --json bench.json",
                    "bench spmv A.mtx --vectors 8", "bench overlap A.mtx --threads 2"},
       .takes = Affects::matrix | Affects::rows | Affects::levels | Affects::kernels |
                Affects::travel | Affects::placement | Affects::real_run | Affects::kernel_times |
                Affects::report | Affects::console,
       .take_arguments = take_benchmark,
       .run = run_bench}};
  return command;
}

}  // namespace nodewise::cli
