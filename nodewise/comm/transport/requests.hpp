// Nonblocking messages of any length, as requests that are completed together.
#pragma once

#include <algorithm>
#include <vector>

#include <mpi.h>

#include "nodewise/comm/transport/channel.hpp"

namespace nodewise::comm::transport {

/// Calls post(offset, count) for each piece of a message, none longer than max_bytes.
template <class Post>
void for_each_piece(const Part& part, Offset max_bytes, Post&& post) {
  for (Offset at = 0; at < part.bytes; at += max_bytes) {
    post(part.begin + at, static_cast<int>(std::min(max_bytes, part.bytes - at)));
  }
}

/// Waits for all of them, and forgets them.
inline void wait_all(std::vector<MPI_Request>& requests) {
  const int status =
      MPI_Waitall(narrow<int>(requests.size(), "requests:"), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();
  mpi::check(status, "MPI_Waitall");
}

}  // namespace nodewise::comm::transport
