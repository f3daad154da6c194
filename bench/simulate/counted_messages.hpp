// What MPI is really asked to send, by where it goes.
#pragma once

#include <cstdint>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::bench {

/// Messages and bytes that this rank sent by MPI_Isend.
struct SentMessages {
  std::int64_t messages_on_node = 0;
  std::int64_t messages_off_node = 0;
  std::int64_t bytes_on_node = 0;
  std::int64_t bytes_off_node = 0;
};

/// Local. Counts from now on, from zero, what this rank sends on `comm`.
void start_counting(const mpi::Comm& comm);
/// Local. What was sent since, and counts no more.
SentMessages stop_counting();

}  // namespace nodewise::bench
