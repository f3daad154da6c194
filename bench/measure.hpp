// Samples of a measurement and what they are boiled down to; the process's memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/timer.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::bench {

struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// Local. Median, least and largest of at least one sample.
Spread spread(std::vector<double> samples);

/// Local. a[k] / b[k], pair by pair.
std::vector<double> ratios(std::span<const double> a, std::span<const double> b);

/// "median (low..high)" with `digits` digits after the point.
std::string to_text(const Spread& s, int digits);
/// The same for seconds, with three digits of the median, and milliseconds at least.
std::string seconds_text(const Spread& s);

/// Collective. Runs `work` on every rank between barriers; the seconds of the slowest rank.
template <class Work>
double timed(const mpi::Comm& comm, Work&& work) {
  mpi::check(MPI_Barrier(comm.get()), "MPI_Barrier");
  const Timer timer;
  work();
  return mpi::max(comm, timer.seconds());
}

/// Local. Forgets the peak of resident memory so far, after handing free memory back to the
/// system; false where the kernel does not allow it. Linux only.
bool reset_peak_memory();
/// Local. The peak of resident memory of this process (VmHWM), in bytes; 0 where unknown.
std::int64_t peak_memory_bytes();
/// Local. Resident memory now (VmRSS), in bytes; 0 where unknown.
std::int64_t resident_memory_bytes();

/// Local. The load averages of this machine, "0.10 0.05 0.01"; empty where unknown.
std::string load_averages();

}  // namespace nodewise::bench
