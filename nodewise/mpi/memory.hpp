// How much memory a run takes, and whether it will do.
#pragma once

#include <cstdint>
#include <string>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi {

struct MemoryUse {
  std::int64_t peak_max_bytes = 0;  ///< of the rank that held most
  std::int64_t peak_sum_bytes = 0;
};

/// Collective. Peak resident memory of the ranks so far.
MemoryUse measure_memory(const Comm& comm);

/// Collective on `world`, whose topology is the real one. Throws out_of_memory on every rank where
/// some node's share of `bytes` exceeds the memory available there; `what` needs them.
void check_memory(const Comm& world, double bytes, const std::string& what);

}  // namespace nodewise::mpi
