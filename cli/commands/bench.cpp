#include "cli/commands/bench.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/agreed.hpp"
#include "cli/bench_bandwidth.hpp"
#include "cli/bench_kernels.hpp"
#include "cli/calibrate_stopwatch.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/machine.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/print/bench_tables.hpp"
#include "cli/print/console.hpp"
#include "cli/print/progress.hpp"
#include "cli/print/summary.hpp"

namespace nodewise::cli {

namespace {

constexpr int most_repeats = 15;

/// Collective. The last caches that the ranks of all hosts can use together; 0 where not known.
double usable_cache_bytes(const mpi::Comm& comm, const Machine& machine) {
  const Host host = describe_host();
  const double hosts = machine.hosts;
  double bytes = 0;
  if (!host.caches.empty()) {
    const model::Cache& last = host.caches.back();
    const int instances = (host.cores + last.cores - 1) / last.cores;
    const int users = (machine.ranks + machine.hosts - 1) / machine.hosts * machine.threads;
    bytes = hosts * last.bytes * std::clamp(users, 1, instances);
  }
  return mpi::broadcast(comm, bytes, 0);
}

/// Four times the caches, as STREAM wants; less where that takes longer than there is time for, or
/// half a gibibyte.
double array_bytes(double cache, double seconds) {
  const double wanted = std::clamp(4 * cache, 67108864.0, 536870912.0);
  return std::clamp(seconds * 2e7, 4194304.0, wanted);
}

/// Collective. All kernels of all levels.
std::vector<BenchKernel> make_kernels(const amg::Hierarchy<double>& hierarchy,
                                      const Settings& settings, bool symmetric) {
  std::vector<BenchKernel> kernels;
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    std::vector<BenchKernel> of_level = level_kernels(hierarchy, l, settings, symmetric);
    std::move(of_level.begin(), of_level.end(), std::back_inserter(kernels));
  }
  return kernels;
}

/// Collective. Everything in turn, bandwidth and kernels, so that what disturbs the machine for a
/// while disturbs all of them.
void measure(const std::shared_ptr<const mpi::Comm>& comm, const Settings& settings,
             std::vector<BenchKernel>& kernels, Console& console, BenchRecord& record) {
  const auto length = static_cast<std::size_t>(record.array_bytes / sizeof(double)) /
                      static_cast<std::size_t>(comm->size());
  auto streams =
      mpi::collectively(*comm, [&] { return MemoryStreams(std::max<std::size_t>(length, 1)); });
  std::vector<std::function<void()>> work = {[&] { streams.triad(); }, [&] { streams.read(); }};
  std::vector<Repeats*> times = {&record.triad, &record.reading};
  for (BenchKernel& kernel : kernels) {
    work.push_back(kernel.run);
    times.push_back(&kernel.record.times);
  }
  std::vector<int> in_a_row(work.size(), 1);
  Stopwatch stopwatch(comm, console, settings.calibrate.seconds, 1);
  stopwatch.begin(counted(std::ssize(kernels), "kernel"), 1);
  const auto run = [&](std::size_t k) {
    // What fits a cache is there already, whichever kernel came before; a cache that takes what
    // another lets go of has all of it after the second time.
    const bool cached = k >= 2 && record.is_in_cache(kernels[k - 2].record).value_or(true);
    for (int r = 0; cached && r < 2; ++r) work[k]();
    mpi::check(MPI_Barrier(comm->get()), "MPI_Barrier");
    const Timer timer;
    for (int r = 0; r < in_a_row[k]; ++r) work[k]();
    return timer.seconds() / in_a_row[k];
  };
  const auto warm_up = [&](std::size_t k, double t) {
    in_a_row[k] = static_cast<int>(std::clamp(1e-4 / t, 1.0, 100.0));
  };
  const auto store = [&](std::size_t k, double t) {
    times[k]->seconds.push_back(t);
    if (!console.is_live()) return;
    console.progress(fmt::format("  {:>7}   kernel {} of {}, {}",
                                 human_seconds(stopwatch.elapsed()), k + 1, work.size(),
                                 counted(std::ssize(times[k]->seconds), "time")));
  };
  measure_in_turn(stopwatch, work.size(), most_repeats, run, warm_up, store);
  record.seconds = stopwatch.elapsed();
  record.array_bytes = streams.reading_bytes() / 2 * comm->size();
}

void check_memory_of(const mpi::Comm& world, const amg::Hierarchy<double>& hierarchy,
                     const BenchRecord& record, const Settings& settings) {
  double bytes = 3 * record.array_bytes;
  for (const amg::LevelInfo& level : hierarchy.levels()) {
    bytes += 4.0 * static_cast<double>(level.nonzeros) +
             (64.0 + 16.0 * settings.bench.vectors) * static_cast<double>(level.rows);
  }
  if (!settings.source.ignore_memory_check)
    check_memory(world, bytes, "the vectors to measure with");
}

}  // namespace

ExitCode bench_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& given,
                       std::span<const std::string> command_line) {
  Settings settings = given;
  on_root(*world, [&] {
    if (!settings.result.json.empty()) check_writable(settings.result.json);
  });
  Console console(world->is_root(), settings.console);
  const auto comm = make_comm(*world, settings.placement, settings.communication);
  BenchRecord record;
  record.command_line.assign(command_line.begin(), command_line.end());
  record.machine = describe_machine(*comm, settings);
  print_machine(console, record.machine);
  const LoadedMatrix loaded = load_matrix(*world, comm, settings);
  check_shape(*loaded.A);
  record.matrix = describe_matrix(loaded, settings);
  record.preset = apply_preset(*loaded.A, record.matrix.symmetric, settings);

  if (!console.is_live()) console.line("Setup");
  const amg::Hierarchy<double> hierarchy(
      loaded.A, settings.amg, make_knowledge(*loaded.A, record.matrix.symmetric, settings),
      level_progress(console));
  record.levels.assign(hierarchy.levels().begin(), hierarchy.levels().end());
  for (std::size_t l = 0; l < record.levels.size(); ++l) {
    record.level_bytes.push_back(
        mpi::sum(*comm, static_cast<double>(hierarchy.matrix(l)->memory_bytes())));
  }
  record.cache_bytes = usable_cache_bytes(*comm, record.machine);
  record.array_bytes = array_bytes(record.cache_bytes, settings.calibrate.seconds);
  check_memory_of(*world, hierarchy, record, settings);
  std::vector<BenchKernel> kernels = make_kernels(hierarchy, settings, record.matrix.symmetric);
  if (!console.is_live()) console.line();
  if (!console.is_live()) console.line("Measuring");
  measure(comm, settings, kernels, console, record);
  for (BenchKernel& kernel : kernels) record.kernels.push_back(std::move(kernel.record));
  if (!console.is_live()) console.line();

  on_root(*world, [&] {
    const std::string& path = settings.result.json;
    if (!path.empty()) write_text_file(path, bench_json(record, settings));
    print_bench(console, record);
  });
  return ExitCode::success;
}

}  // namespace nodewise::cli
