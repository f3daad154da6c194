// The time a phase takes.
#pragma once

#include <utility>

#include "nodewise/base/timer.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::run {

/// Collective. Runs a phase and returns its longest time over the ranks, in seconds.
template <class Work>
double timed(const mpi::Comm& comm, Work&& work) {
  const Timer timer;
  std::forward<Work>(work)();
  return mpi::max(comm, timer.seconds());
}

}  // namespace nodewise::run
