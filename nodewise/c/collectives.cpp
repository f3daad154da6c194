// MPIX_Allreduce, MPIX_Allgather, MPIX_Allgatherv and MPIX_Alltoallv, for int and for 64-bit
// counts, and what MPIL has of them.
#include <vector>

#include "nodewise/c/handles.hpp"
#include "nodewise/c/mpil.hpp"
#include "nodewise/mpi/collectives/allgather.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"
#include "nodewise/mpi/collectives/alltoallv.hpp"

namespace nodewise::c {
namespace {

namespace collectives = mpi::collectives;

/// An array of one number for each process; NULL is an empty one, which the collective refuses on
/// all processes alike.
template <class Count>
std::vector<Offset> one_per_process(const Count* values, const mpi::Comm& comm) {
  if (values == nullptr) return {};
  return {values, values + comm.size()};
}

void allreduce(const void* sendbuf, void* recvbuf, Offset count, MPI_Datatype type, MPI_Op op,
               const Choice<mpi::AllreduceMethod>& algorithm, const mpi::Comm& comm) {
  try {
    collectives::allreduce(comm, sendbuf, recvbuf, count, type, op, algorithm);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    throw ClassifiedError(MPI_ERR_OP, error.what());  // nothing else of an allreduce is unsupported
  }
}

/// MPI does not look at the count of what is sent in place.
Offset count_of(const void* sendbuf, Offset sendcount) {
  return sendbuf == MPI_IN_PLACE ? 0 : sendcount;
}

void allgather(const void* sendbuf, Offset sendcount, MPI_Datatype sendtype, void* recvbuf,
               Offset recvcount, MPI_Datatype recvtype,
               const Choice<mpi::AllgatherMethod>& algorithm, const mpi::Comm& comm) {
  collectives::allgather(comm, sendbuf, count_of(sendbuf, sendcount), sendtype, recvbuf, recvcount,
                         recvtype, algorithm);
}

template <class Count>
void allgatherv(const void* sendbuf, Offset sendcount, MPI_Datatype sendtype, void* recvbuf,
                const Count* recvcounts, const Count* displs, MPI_Datatype recvtype,
                const MPIX_Info* xinfo, const mpi::Comm& comm) {
  collectives::allgatherv(comm, sendbuf, count_of(sendbuf, sendcount), sendtype, recvbuf,
                          one_per_process(recvcounts, comm), one_per_process(displs, comm),
                          recvtype, settings_of(xinfo, comm).allgather);
}

template <class Count>
void alltoallv(const void* sendbuf, const Count* sendcounts, const Count* sdispls,
               MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts, const Count* rdispls,
               MPI_Datatype recvtype, const Choice<mpi::AlltoallvMethod>& algorithm,
               const mpi::Comm& comm) {
  std::vector<Offset> counts, starts;
  if (sendbuf != MPI_IN_PLACE) {
    counts = one_per_process(sendcounts, comm);
    starts = one_per_process(sdispls, comm);
  }
  const std::vector<Offset> receive_counts = one_per_process(recvcounts, comm);
  const std::vector<Offset> receive_starts = one_per_process(rdispls, comm);
  collectives::alltoallv(comm, sendbuf, {counts, starts, sendtype}, recvbuf,
                         {receive_counts, receive_starts, recvtype}, algorithm);
}

/// Blocks of one length.
void alltoall(const void* sendbuf, Offset sendcount, MPI_Datatype sendtype, void* recvbuf,
              Offset recvcount, MPI_Datatype recvtype,
              const Choice<mpi::AlltoallvMethod>& algorithm, const mpi::Comm& comm) {
  const auto n = static_cast<std::size_t>(comm.size());
  const auto starts = [n](Offset count) {
    std::vector<Offset> starts_of(n);
    for (std::size_t r = 0; r < n; ++r) starts_of[r] = static_cast<Offset>(r) * count;
    return starts_of;
  };
  const std::vector<Offset> counts(n, sendcount), send_starts = starts(sendcount);
  const std::vector<Offset> receive_counts(n, recvcount), receive_starts = starts(recvcount);
  collectives::alltoallv(comm, sendbuf,
                         sendbuf == MPI_IN_PLACE ? collectives::Side{{}, {}, sendtype}
                                                 : collectives::Side{counts, send_starts, sendtype},
                         recvbuf, {receive_counts, receive_starts, recvtype}, algorithm);
}

}  // namespace
}  // namespace nodewise::c

using namespace nodewise::c;

extern "C" {

int MPIX_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   const MPIX_Info* xinfo, MPIX_Comm* xcomm) {
  return guarded([&] {
    allreduce(sendbuf, recvbuf, count, datatype, op, settings_of(xinfo, comm_of(xcomm)).allreduce,
              comm_of(xcomm));
  });
}

int MPIX_Allreduce_c(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype,
                     MPI_Op op, const MPIX_Info* xinfo, MPIX_Comm* xcomm) {
  return guarded([&] {
    allreduce(sendbuf, recvbuf, count, datatype, op, settings_of(xinfo, comm_of(xcomm)).allreduce,
              comm_of(xcomm));
  });
}

int MPIX_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, const MPIX_Info* xinfo, MPIX_Comm* xcomm) {
  return guarded([&] {
    allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
              settings_of(xinfo, comm_of(xcomm)).allgather, comm_of(xcomm));
  });
}

int MPIX_Allgather_c(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int64_t recvcount, MPI_Datatype recvtype, const MPIX_Info* xinfo,
                     MPIX_Comm* xcomm) {
  return guarded([&] {
    allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
              settings_of(xinfo, comm_of(xcomm)).allgather, comm_of(xcomm));
  });
}

int MPIX_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    const MPIX_Info* xinfo, MPIX_Comm* xcomm) {
  return guarded([&] {
    allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, xinfo,
               comm_of(xcomm));
  });
}

int MPIX_Allgatherv_c(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const int64_t recvcounts[], const int64_t displs[], MPI_Datatype recvtype,
                      const MPIX_Info* xinfo, MPIX_Comm* xcomm) {
  return guarded([&] {
    allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, xinfo,
               comm_of(xcomm));
  });
}

int MPIX_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, const MPIX_Info* xinfo,
                   MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
              settings_of(xinfo, comm_of(xcomm)).alltoallv, comm_of(xcomm));
  });
}

int MPIX_Alltoallv_c(const void* sendbuf, const int64_t sendcounts[], const int64_t sdispls[],
                     MPI_Datatype sendtype, void* recvbuf, const int64_t recvcounts[],
                     const int64_t rdispls[], MPI_Datatype recvtype, const MPIX_Info* xinfo,
                     MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
              settings_of(xinfo, comm_of(xcomm)).alltoallv, comm_of(xcomm));
  });
}

int MPIL_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPIL_Comm* comm) {
  return guarded([&] {
    allreduce(sendbuf, recvbuf, count, datatype, op, allreduce_algorithm(), comm_of(comm));
  });
}

int MPIL_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPIL_Comm* comm) {
  return guarded([&] {
    allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, allgather_algorithm(),
              comm_of(comm));
  });
}

int MPIL_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPIL_Comm* comm) {
  return guarded([&] {
    alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, alltoall_algorithm(),
             comm_of(comm));
  });
}

int MPIL_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPIL_Comm* comm) {
  return guarded([&] {
    alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
              alltoallv_algorithm(), comm_of(comm));
  });
}

}  // extern "C"
