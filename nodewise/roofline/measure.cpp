#include "nodewise/roofline/measure.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/calibrate/host.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/roofline/bandwidth.hpp"

namespace nodewise::roofline {

namespace {

using calibrate::Repeats;
using calibrate::Stopwatch;

constexpr int most_repeats = 15;

/// Collective. The last caches that the ranks of all hosts can use together; 0 where not known.
double usable_cache_bytes(const mpi::Comm& comm, const run::Environment& environment) {
  const calibrate::Host host = calibrate::describe_host();
  const double hosts = environment.hosts;
  double bytes = 0;
  if (!host.caches.empty()) {
    const model::Cache& last = host.caches.back();
    const int instances = (host.cores + last.cores - 1) / last.cores;
    const int users =
        (environment.ranks + environment.hosts - 1) / environment.hosts * environment.threads;
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

}  // namespace

Record begin_record(const mpi::Comm& comm, const run::Environment& environment, double seconds) {
  Record record;
  record.cache_bytes = usable_cache_bytes(comm, environment);
  record.array_bytes = array_bytes(record.cache_bytes, seconds);
  return record;
}

void measure(const std::shared_ptr<const mpi::Comm>& comm, double seconds,
             std::vector<Kernel>& kernels, const Progress& progress, Record& record) {
  const auto length = static_cast<std::size_t>(record.array_bytes / sizeof(double)) /
                      static_cast<std::size_t>(comm->size());
  auto streams =
      mpi::collectively(*comm, [&] { return MemoryStreams(std::max<std::size_t>(length, 1)); });
  std::vector<std::function<void()>> work = {[&] { streams.triad(); }, [&] { streams.read(); }};
  std::vector<Repeats*> times = {&record.triad, &record.reading};
  for (Kernel& kernel : kernels) {
    work.push_back(kernel.run);
    times.push_back(&kernel.record.times);
  }
  std::vector<int> in_a_row(work.size(), 1);
  Stopwatch stopwatch(comm, seconds, 1, progress.begin);
  stopwatch.begin(counted(std::ssize(kernels), "kernel"), 1);
  const auto run = [&](std::size_t k) {
    // Data that fits a cache is there already, whichever kernel came before; a cache that takes
    // what another gives up has all of it after the second time.
    const bool cached = k >= 2 && record.is_in_cache(kernels[k - 2].record).value_or(true);
    for (int r = 0; cached && r < 2; ++r) work[k]();
    mpi::check(MPI_Barrier(comm->get()), "MPI_Barrier");
    const Timer timer;
    for (int r = 0; r < in_a_row[k]; ++r) work[k]();
    return timer.seconds() / in_a_row[k];
  };
  const auto warm_up = [&](std::size_t k, double t) {
    const double least = k < 2 ? 1 : kernels[k - 2].least_in_a_row;
    in_a_row[k] = static_cast<int>(std::clamp(1e-4 / t, least, 100.0));
  };
  const auto store = [&](std::size_t k, double t) {
    times[k]->seconds.push_back(t);
    if (!progress.kernel) return;
    progress.kernel(stopwatch.elapsed(), k, work.size(), times[k]->seconds.size());
  };
  measure_in_turn(stopwatch, work.size(), most_repeats, run, warm_up, store);
  record.seconds = stopwatch.elapsed();
  record.array_bytes = streams.reading_bytes() / 2 * comm->size();
}

}  // namespace nodewise::roofline
