#include "cli/commands/bench.hpp"

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/report/bench_json.hpp"
#include "nodewise/roofline/bench.hpp"
#include "nodewise/run/memory.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/inputs/machine.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/bench_tables.hpp"
#include "cli/print/console.hpp"
#include "cli/print/progress.hpp"
#include "cli/print/summary.hpp"

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

}  // namespace

ExitCode bench_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& given,
                       std::span<const std::string> command_line) {
  Settings settings = given;
  settings.bench.seconds = settings.calibrate.seconds;
  const std::string& path = settings.result.json;
  on_root(*world, [&] {
    if (!path.empty()) check_writable(path);
  });
  Console console(world->is_root(), settings.console);
  const auto comm = run::place(*world, settings.placement, settings.communication);
  BenchRecord record;
  record.run.command_line.assign(command_line.begin(), command_line.end());
  record.run.machine = describe_machine(*comm, settings);
  print_machine(console, record.run.machine);
  const LoadedMatrix loaded = load_matrix(*world, comm, settings);
  check_shape(*loaded.A);
  record.run.matrix = describe_matrix(loaded, settings);
  const bool symmetric = record.run.matrix.symmetric;
  record.run.preset = apply_preset(*loaded.A, symmetric, settings);
  record.run.options = reported_options(settings);

  if (!console.is_live()) console.line("Setup");
  const amg::Hierarchy<double> hierarchy(loaded.A, settings.amg,
                                         make_knowledge(*loaded.A, symmetric, settings),
                                         level_progress(console));
  const roofline::Subject subject = {hierarchy, settings.amg, symmetric};
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

}  // namespace nodewise::cli
