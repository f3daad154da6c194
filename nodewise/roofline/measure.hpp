// Measuring kernels and the bandwidth of the memory in turn.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "nodewise/calibrate/stopwatch.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/roofline/kernels.hpp"
#include "nodewise/roofline/record.hpp"
#include "nodewise/run/environment.hpp"

namespace nodewise::roofline {

/// Told of what is done, on every rank; each may be left out.
struct Progress {
  calibrate::PartObserver begin = {};
  /// Kernel k of n was measured once more, for the `times`-th time.
  std::function<void(double seconds, std::size_t k, std::size_t n, std::size_t times)> kernel = {};
};

/// Collective. A record with the caches of these ranks, and the size of arrays that say in so many
/// seconds how fast the memory behind them is.
Record begin_record(const mpi::Comm& comm, const run::Environment& environment, double seconds);

/// Collective. Everything in turn, bandwidth and kernels, so that what disturbs the machine for a
/// while disturbs all of them: into `record` and those of the kernels.
void measure(const std::shared_ptr<const mpi::Comm>& comm, double seconds,
             std::vector<Kernel>& kernels, const Progress& progress, Record& record);

}  // namespace nodewise::roofline
