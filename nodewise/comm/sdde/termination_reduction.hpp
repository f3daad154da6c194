// One small reduction in which the ranks of an exchange learn what they must know of each other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm::sdde {

/// The contribution of one rank.
struct Vote {
  bool failed = false;
  std::optional<Offset> equal_count = std::nullopt;  ///< given by all ranks or by none
  Offset bytes_sent = 0;
};

/// A nonblocking reduction, started by every rank once. Since it completes nowhere before it was
/// started everywhere, it serves as the barrier of the nonblocking algorithms too, which so learn
/// of errors at no cost.
class TerminationReduction {
 public:
  explicit TerminationReduction(const mpi::Comm& comm) : comm_(comm) {}
  TerminationReduction(const TerminationReduction&) = delete;
  TerminationReduction& operator=(const TerminationReduction&) = delete;

  void start(const Vote& vote);
  bool done();  ///< gives MPI the chance to proceed
  void wait();

  // After completion, the same on every rank:
  bool any_failed() const { return least_[0] < 0; }
  bool counts_differ() const { return least_[1] != -least_[2]; }
  Offset most_bytes_sent() const { return -least_[3]; }

 private:
  const mpi::Comm& comm_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::array<std::int64_t, 4> mine_{};
  std::array<std::int64_t, 4> least_{};
};

}  // namespace nodewise::comm::sdde
