#include "simulate/counted_messages.hpp"

namespace nodewise::bench {

namespace {

// Of this rank: a simulated rank has a copy of the program's variables of its own.
const mpi::Comm* counted_comm = nullptr;
SentMessages counted;

void count(MPI_Comm comm, int to, std::int64_t bytes) {
  if (counted_comm == nullptr || comm != counted_comm->get()) return;
  const bool local = counted_comm->topology().same_node(counted_comm->rank(), to);
  (local ? counted.messages_on_node : counted.messages_off_node) += 1;
  (local ? counted.bytes_on_node : counted.bytes_off_node) += bytes;
}

}  // namespace

void start_counting(const mpi::Comm& comm) {
  counted = {};
  counted_comm = &comm;
}

SentMessages stop_counting() {
  counted_comm = nullptr;
  return counted;
}

}  // namespace nodewise::bench

// MPI's profiling interface: this stands in front of the library's function.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  nodewise::bench::count(comm, to, std::int64_t{count} * size);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
