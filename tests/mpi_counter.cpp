#include "mpi_counter.hpp"

#include <mpi.h>

#include "nodewise/base/error.hpp"

namespace nodewise::test {
namespace {

MpiCounter* active = nullptr;

int world_rank(int rank, MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  int translated = MPI_UNDEFINED;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &rank, world, &translated);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return translated;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const MpiCalls& c) {
  return out << c.messages_on_node << " messages (" << c.bytes_on_node << " bytes) on node, "
             << c.messages_off_node << " (" << c.bytes_off_node << ") off node, " << c.synchronous
             << " synchronous, " << c.collectives << " collectives";
}

MpiCounter::MpiCounter(std::vector<int> node_of_rank) : node_of_rank_(std::move(node_of_rank)) {
  if (active != nullptr) throw Error(ErrorCode::internal, "two counters of MPI calls at a time");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  active = this;
}

MpiCounter::~MpiCounter() {
  active = nullptr;
}

void MpiCounter::count_send(int count, MPI_Datatype type, int to, MPI_Comm comm, bool synchronous) {
  int size = 0;
  PMPI_Type_size(type, &size);
  const auto node = [this](int r) { return node_of_rank_.at(static_cast<std::size_t>(r)); };
  const bool on_node = node(world_rank(to, comm)) == node(rank_);
  (on_node ? calls_.messages_on_node : calls_.messages_off_node) += 1;
  (on_node ? calls_.bytes_on_node : calls_.bytes_off_node) += std::int64_t{count} * size;
  calls_.synchronous += synchronous ? 1 : 0;
}

MpiCalls booked(mpi::Ledger& ledger) {
  MpiCalls calls;
  for (const mpi::Account& account : ledger.accounts()) {
    calls.messages_on_node += account.counts.messages_on_node;
    calls.messages_off_node += account.counts.messages_off_node;
    calls.bytes_on_node += account.counts.bytes_on_node;
    calls.bytes_off_node += account.counts.bytes_off_node;
    calls.collectives += account.counts.collectives;
  }
  return calls;
}

}  // namespace nodewise::test

// These stand in front of the library's functions: a program's own symbols come first.
using nodewise::test::active;

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (active != nullptr) active->count_send(count, type, to, comm, false);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (active != nullptr) active->count_send(count, type, to, comm, false);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (active != nullptr) active->count_send(count, type, to, comm, true);
  return PMPI_Issend(data, count, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received,
                 int received_count, MPI_Datatype received_type, int from, int received_tag,
                 MPI_Comm comm, MPI_Status* status) {
  if (active != nullptr) active->count_send(count, type, to, comm, false);
  return PMPI_Sendrecv(data, count, type, to, tag, received, received_count, received_type, from,
                       received_tag, comm, status);
}

int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Allreduce(data, result, count, type, op, comm);
}

int MPI_Exscan(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Exscan(data, result, count, type, op, comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* result, int result_count,
                  MPI_Datatype result_type, MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Allgather(data, count, type, result, result_count, result_type, comm);
}

int MPI_Allgatherv(const void* data, int count, MPI_Datatype type, void* result,
                   const int result_counts[], const int starts[], MPI_Datatype result_type,
                   MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Allgatherv(data, count, type, result, result_counts, starts, result_type, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  if (active != nullptr) active->count_collective();
  return PMPI_Ibarrier(comm, request);
}

}  // extern "C"
