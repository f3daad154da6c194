#include "nodewise/mpi/nonblocking_sum.hpp"

#include "nodewise/mpi/ledger.hpp"

namespace nodewise::mpi {

NonblockingSum::NonblockingSum(const Comm& comm, std::span<double> values) : comm_(comm) {
  const CollectiveCall call(comm);
  check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), narrow<int>(values.size(), "count"), MPI_DOUBLE,
                       MPI_SUM, comm.get(), &request_),
        "MPI_Iallreduce");
}

NonblockingSum::~NonblockingSum() {
  const Communicating communicating(comm_);
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

void NonblockingSum::finish() {
  const Communicating communicating(comm_);
  check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
}

}  // namespace nodewise::mpi
