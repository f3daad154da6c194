#include "mpi_counter.hpp"

#include <mpi.h>

#include "nodewise/base/error.hpp"

namespace nodewise::test {
namespace {

MpiCounter* active = nullptr;

/// Frees `group`.
int world_rank(int rank, MPI_Group group) {
  MPI_Group world = MPI_GROUP_NULL;
  int translated = MPI_UNDEFINED;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &rank, world, &translated);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return translated;
}

std::int64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return std::int64_t{count} * size;
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
  if (!is_mine()) return;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  count_message(world_rank(to, group), bytes_of(count, type));
  calls_.synchronous += synchronous ? 1 : 0;
}

void MpiCounter::count_put(int count, MPI_Datatype type, int to, MPI_Win window) {
  if (!is_mine()) return;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &group);
  count_message(world_rank(to, group), bytes_of(count, type));
}

void MpiCounter::count_message(int to, std::int64_t bytes) {
  const auto node = [this](int r) { return node_of_rank_.at(static_cast<std::size_t>(r)); };
  const bool on_node = node(to) == node(rank_);
  (on_node ? calls_.messages_on_node : calls_.messages_off_node) += 1;
  (on_node ? calls_.bytes_on_node : calls_.bytes_off_node) += bytes;
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

int MPI_Gatherv(const void* data, int count, MPI_Datatype type, void* result,
                const int result_counts[], const int starts[], MPI_Datatype result_type, int root,
                MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Gatherv(data, count, type, result, result_counts, starts, result_type, root, comm);
}

int MPI_Scatterv(const void* data, const int counts[], const int starts[], MPI_Datatype type,
                 void* result, int result_count, MPI_Datatype result_type, int root,
                 MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Scatterv(data, counts, starts, type, result, result_count, result_type, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Barrier(comm);
}

int MPI_Put(const void* data, int count, MPI_Datatype type, int to, MPI_Aint at, int to_count,
            MPI_Datatype to_type, MPI_Win window) {
  if (active != nullptr) active->count_put(count, type, to, window);
  return PMPI_Put(data, count, type, to, at, to_count, to_type, window);
}

int MPI_Iallreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  if (active != nullptr) active->count_collective();
  return PMPI_Iallreduce(data, result, count, type, op, comm, request);
}

int MPI_Reduce_scatter_block(const void* data, void* result, int count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Reduce_scatter_block(data, result, count, type, op, comm);
}

int MPI_Alltoall(const void* data, int count, MPI_Datatype type, void* result, int result_count,
                 MPI_Datatype result_type, MPI_Comm comm) {
  if (active != nullptr) active->count_collective();
  return PMPI_Alltoall(data, count, type, result, result_count, result_type, comm);
}

int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* memory,
                     MPI_Win* window) {
  if (active != nullptr) active->count_collective();
  return PMPI_Win_allocate(bytes, unit, info, comm, memory, window);
}

int MPI_Win_free(MPI_Win* window) {
  if (active != nullptr) active->count_collective();
  return PMPI_Win_free(window);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  if (active != nullptr) active->count_collective();
  return PMPI_Ibarrier(comm, request);
}

}  // extern "C"
