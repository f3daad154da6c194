// `nodewise bench spmv`.
#include "nodewise/roofline/bench.hpp"

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/report/bench_json.hpp"
#include "nodewise/run/memory.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/print/bench_tables.hpp"
#include "cli/print/console.hpp"
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

/// Takes the word that says what to measure from the arguments, which are then those of a matrix.
void take_benchmark(Settings& s) {
  if (s.files.empty()) {
    fail_usage("bench needs to be told what to measure: nodewise bench spmv A.mtx");
  }
  if (s.files[0] != "spmv") {
    // A benchmark misspelt, or one left out before the matrix.
    const std::vector<std::string> known = {"spmv"};
    const bool misspelt = nearest_name(s.files[0], known) >= 0 || s.files.size() > 1;
    const std::size_t matrix = misspelt ? 1 : 0;
    fail_usage(fmt::format("there is no benchmark '{}'; did you mean 'nodewise bench spmv{}'?",
                           s.files[0], matrix < s.files.size() ? " " + s.files[matrix] : ""));
  }
  s.files.erase(s.files.begin());
  take_matrix(s);
}

/// Measures the bandwidth of the memory, and every kernel of every level against what it allows.
ExitCode run_bench(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  settings.bench.seconds = settings.calibrate.seconds;
  const std::string& path = settings.result.json;
  on_root(*world, [&] { check_writable(path); });
  Console console(world->is_root(), settings.console);
  const auto comm = run::place(*world, settings.placement, settings.communication);
  BenchRecord record;
  record.run = begin_run(console, *comm, call);
  const predict::Problem problem = load_problem(*world, comm, Shape::square, settings, record.run);

  if (!console.is_live()) console.line("Setup");
  const amg::Hierarchy<double> hierarchy(problem.A, problem.options, problem.info,
                                         level_progress(console));
  const roofline::Subject subject = {hierarchy, problem.options, record.run.matrix.symmetric};
  const double need = roofline::memory_need(subject, record.run.machine, settings.bench);
  if (!settings.source.ignore_memory_check) {
    run::check_memory(*world, need, "the vectors to measure with");
  }
  if (!console.is_live()) console.line("\nMeasuring");
  record.measured = roofline::measure_kernels(subject, record.run.machine, settings.bench,
                                              bench_progress(console));
  if (!console.is_live()) console.line();

  on_root(*world, [&] {
    if (!path.empty()) write_text_file(path, report::bench_json(record.measured, record.run));
    print_bench(console, record);
  });
  return ExitCode::success;
}

}  // namespace

const Command& bench_command() {
  static const Command command = {
      {"bench", "measure the kernels of every level against the bandwidth of the memory", ""},
      {.usage = "spmv A.mtx | spmv --problem NAME",
       .examples = {"bench spmv A.mtx",
                    "bench spmv -p laplace7 -n 100 --seconds 20 --json bench.json",
                    "bench spmv A.mtx --vectors 8"},
       .takes = Affects::matrix | Affects::levels | Affects::kernels | Affects::travel |
                Affects::placement | Affects::real_run | Affects::kernel_times | Affects::report |
                Affects::console,
       .take_arguments = take_benchmark,
       .run = run_bench}};
  return command;
}

}  // namespace nodewise::cli
