#include "nodewise/comm/sdde/termination_reduction.hpp"

#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

void TerminationReduction::start(const Vote& vote) {
  const Offset count = vote.equal_count.value_or(0);
  // The least of the negatives is the greatest, so that one operation gives both.
  mine_ = {vote.failed ? -1 : 0, count, -count, -vote.bytes_sent};
  const mpi::CollectiveCall call(comm_);
  mpi::check(MPI_Iallreduce(mine_.data(), least_.data(), static_cast<int>(mine_.size()),
                            MPI_INT64_T, MPI_MIN, comm_.get(), &request_),
             "MPI_Iallreduce");
}

bool TerminationReduction::done() {
  int flag = 0;
  mpi::check(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  return flag != 0;
}

void TerminationReduction::wait() {
  mpi::check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
}

}  // namespace nodewise::comm::sdde
