// The objects and the switches of nodewise_mpil.h.
#include "nodewise/c/mpil.hpp"

#include <cstdlib>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "nodewise/c/handles.hpp"
#include "nodewise/c/neighbour_exchange.hpp"
#include "nodewise/mpi/agree.hpp"

extern "C" {
enum AlltoallMethod mpil_alltoall_implementation = ALLTOALL_AUTOMATIC;
enum AlltoallvMethod mpil_alltoallv_implementation = ALLTOALLV_AUTOMATIC;
enum AllreduceMethod mpil_allreduce_implementation = ALLREDUCE_AUTOMATIC;
enum AllgatherMethod mpil_allgather_implementation = ALLGATHER_AUTOMATIC;
enum NeighborAlltoallvMethod mpil_neighbor_alltoallv_implementation = NEIGHBOR_ALLTOALLV_STANDARD;
enum NeighborAlltoallvInitMethod mpil_neighbor_alltoallv_init_implementation =
    NEIGHBOR_ALLTOALLV_INIT_STANDARD;
enum AlltoallCRSMethod mpil_alltoall_crs_implementation = ALLTOALL_CRS_AUTOMATIC;
enum AlltoallvCRSMethod mpil_alltoallv_crs_implementation = ALLTOALLV_CRS_AUTOMATIC;
}

namespace nodewise::c {

const mpi::Comm& comm_of(const MPIL_Comm* xcomm) {
  require(xcomm != nullptr, MPI_ERR_COMM, "the MPIL_Comm is NULL");
  return *xcomm->comm;
}

Choice<mpi::AlltoallvMethod> alltoall_algorithm() {
  switch (mpil_alltoall_implementation) {
    case ALLTOALL_PAIRWISE:
      return "pairwise";
    case ALLTOALL_NONBLOCKING:
      return "spread_out";
    case ALLTOALL_PMPI:
      return "mpi";
    case ALLTOALL_AUTOMATIC:
      return "automatic";
    default:
      return mpil_alltoall_implementation < ALLTOALL_PMPI ? "node_aware" : "automatic";
  }
}

Choice<mpi::AlltoallvMethod> alltoallv_algorithm() {
  switch (mpil_alltoallv_implementation) {
    case ALLTOALLV_PAIRWISE:
      return "pairwise";
    case ALLTOALLV_NONBLOCKING:
    case ALLTOALLV_BATCH:
    case ALLTOALLV_BATCH_ASYNC:
      return "spread_out";
    case ALLTOALLV_PMPI:
      return "mpi";
    default:
      return "automatic";
  }
}

Choice<mpi::AllreduceMethod> allreduce_algorithm() {
  switch (mpil_allreduce_implementation) {
    case ALLREDUCE_RECURSIVE_DOUBLING:
      return "recursive_doubling";
    case ALLREDUCE_DISSEMINATION_RADIX:
    case ALLREDUCE_PMPI:
      return "mpi";
    case ALLREDUCE_DISSEMINATION_LOC:
    case ALLREDUCE_DISSEMINATION_ML:
      return "node_aware";
    default:
      return "automatic";
  }
}

Choice<mpi::AllgatherMethod> allgather_algorithm() {
  switch (mpil_allgather_implementation) {
    case ALLGATHER_RING:
      return "ring";
    case ALLGATHER_BRUCK:
      return "bruck";
    case ALLGATHER_PMPI:
      return "mpi";
    default:
      return "automatic";
  }
}

mpi::SparseExchange alltoall_crs_algorithm() {
  switch (mpil_alltoall_crs_implementation) {
    case ALLTOALL_CRS_RMA:
      return "rma";
    case ALLTOALL_CRS_NONBLOCKING:
      return "nonblocking";
    case ALLTOALL_CRS_NONBLOCKING_LOC:
      return "locality_nonblocking";
    case ALLTOALL_CRS_PERSONALIZED:
      return "personalized";
    case ALLTOALL_CRS_PERSONALIZED_LOC:
      return "locality_personalized";
    default:
      return "automatic";
  }
}

mpi::SparseExchange alltoallv_crs_algorithm() {
  switch (mpil_alltoallv_crs_implementation) {
    case ALLTOALLV_CRS_NONBLOCKING:
      return "nonblocking";
    case ALLTOALLV_CRS_NONBLOCKING_LOC:
      return "locality_nonblocking";
    case ALLTOALLV_CRS_PERSONALIZED:
      return "personalized";
    case ALLTOALLV_CRS_PERSONALIZED_LOC:
      return "locality_personalized";
    default:
      return "automatic";
  }
}

namespace {

/// Sets a switch to one of the algorithms up to `last`.
template <class Method>
int set_switch(Method& target, Method algorithm, Method last) {
  return guarded([&] {
    require(static_cast<int>(algorithm) >= 0 && algorithm <= last, MPI_ERR_ARG,
            "a number that is no algorithm");
    target = algorithm;
  });
}

/// What is done already, on a communicator.
int nothing_to_do(const MPIL_Comm* xcomm) {
  return guarded([&] { comm_of(xcomm); });
}

/// A copy of a list that C gives with its length.
std::vector<int> copied(int n, const int* values, const char* name) {
  require(n >= 0, MPI_ERR_ARG, "the number of neighbours is negative");
  if (n == 0) return {};
  require(values != nullptr && values != MPI_WEIGHTS_EMPTY, MPI_ERR_ARG, name);
  return {values, values + n};
}

Neighbours copied(int indegree, const int* sources, int outdegree, const int* destinations) {
  return {copied(indegree, sources, "there are sources, but their array is NULL"),
          copied(outdegree, destinations, "there are destinations, but their array is NULL")};
}

template <class Handle>
int free_handle(Handle** handle) {
  if (handle == nullptr) return MPI_SUCCESS;
  delete *handle;
  *handle = nullptr;
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace nodewise::c

using namespace nodewise;

extern "C" {

int MPIL_Set_alltoall_algorithm(enum AlltoallMethod algorithm) {
  return c::set_switch(mpil_alltoall_implementation, algorithm, ALLTOALL_AUTOMATIC);
}

int MPIL_Set_alltoallv_algorithm(enum AlltoallvMethod algorithm) {
  return c::set_switch(mpil_alltoallv_implementation, algorithm, ALLTOALLV_AUTOMATIC);
}

int MPIL_Set_allreduce_algorithm(enum AllreduceMethod algorithm) {
  return c::set_switch(mpil_allreduce_implementation, algorithm, ALLREDUCE_AUTOMATIC);
}

int MPIL_Set_allgather_algorithm(enum AllgatherMethod algorithm) {
  return c::set_switch(mpil_allgather_implementation, algorithm, ALLGATHER_AUTOMATIC);
}

int MPIL_Set_alltoallv_neighbor_alogorithm(enum NeighborAlltoallvMethod algorithm) {
  return c::set_switch(mpil_neighbor_alltoallv_implementation, algorithm,
                       NEIGHBOR_ALLTOALLV_LOCALITY);
}

int MPIL_Set_alltoallv_neighbor_init_alogorithm(enum NeighborAlltoallvInitMethod algorithm) {
  return c::set_switch(mpil_neighbor_alltoallv_init_implementation, algorithm,
                       NEIGHBOR_ALLTOALLV_INIT_LOCALITY);
}

int MPIL_Set_alltoall_crs(enum AlltoallCRSMethod algorithm) {
  return c::set_switch(mpil_alltoall_crs_implementation, algorithm, ALLTOALL_CRS_AUTOMATIC);
}

int MPIL_Set_alltoallv_crs(enum AlltoallvCRSMethod algorithm) {
  return c::set_switch(mpil_alltoallv_crs_implementation, algorithm, ALLTOALLV_CRS_AUTOMATIC);
}

int MPIL_Comm_init(MPIL_Comm** xcomm_ptr, MPI_Comm global_comm) {
  return c::guarded([&] {
    c::check_comm(global_comm);
    c::require(xcomm_ptr != nullptr, MPI_ERR_ARG, "MPIL_Comm_init: no place for the result");
    *xcomm_ptr = std::make_unique<MPIL_Comm>(MPIL_Comm{mpi::Comm::create(global_comm)}).release();
  });
}

int MPIL_Comm_free(MPIL_Comm** xcomm_ptr) {
  return c::free_handle(xcomm_ptr);
}

int MPIL_Comm_update_locality(MPIL_Comm* xcomm, int ppn) {
  return c::guarded([&] {
    const mpi::Comm& comm = c::comm_of(xcomm);
    std::vector<int> nodes(static_cast<std::size_t>(comm.size()));
    mpi::collectively(comm, [&] {
      c::require(ppn > 0, MPI_ERR_ARG, "MPIL_Comm_update_locality: nodes of no process");
      for (std::size_t r = 0; r < nodes.size(); ++r) nodes[r] = static_cast<int>(r) / ppn;
    });
    xcomm->comm = mpi::Comm::create(comm.get(), nodes);
  });
}

int MPIL_Comm_leader_init(MPIL_Comm* xcomm, int procs_per_leader) {
  return c::guarded([&] {
    const mpi::Comm& comm = c::comm_of(xcomm);
    const mpi::Topology& nodes = comm.topology();
    std::vector<int> domains(static_cast<std::size_t>(comm.size()));
    mpi::collectively(comm, [&] {
      c::require(procs_per_leader > 0, MPI_ERR_ARG, "MPIL_Comm_leader_init: no process a leader");
      for (std::size_t r = 0; r < domains.size(); ++r) {
        domains[r] = static_cast<int>(nodes.place_on_node(static_cast<int>(r))) / procs_per_leader;
      }
    });
    xcomm->comm = mpi::Comm::create(comm.get(), nodes.with_domains(domains));
  });
}

int MPIL_Comm_leader_free(MPIL_Comm* xcomm) {
  return c::guarded([&] {
    const mpi::Comm& comm = c::comm_of(xcomm);
    std::vector<int> nodes(static_cast<std::size_t>(comm.size()));
    for (std::size_t r = 0; r < nodes.size(); ++r) {
      nodes[r] = comm.topology().node(static_cast<int>(r));
    }
    xcomm->comm = mpi::Comm::create(comm.get(), nodes);
  });
}

int MPIL_Comm_tag(MPIL_Comm* comm, int* tag) {
  return c::guarded([&] {
    c::comm_of(comm);
    c::require(tag != nullptr, MPI_ERR_ARG, "MPIL_Comm_tag: no place for the tag");
    *tag = comm->next_tag;
    constexpr int least_bound = 32767;  // of tags, by the standard
    comm->next_tag = (comm->next_tag + 1) % least_bound;
  });
}

int MPIL_Comm_topo_init(MPIL_Comm* xcomm) {
  return c::nothing_to_do(xcomm);
}

int MPIL_Comm_topo_free(MPIL_Comm* xcomm) {
  return c::nothing_to_do(xcomm);
}

int MPIL_Comm_win_init(MPIL_Comm* xcomm, int /*bytes*/, int /*type_bytes*/) {
  return c::nothing_to_do(xcomm);
}

int MPIL_Comm_win_free(MPIL_Comm* xcomm) {
  return c::nothing_to_do(xcomm);
}

int MPIL_Comm_device_init(MPIL_Comm* xcomm) {
  return c::nothing_to_do(xcomm);
}

int MPIL_Comm_device_free(MPIL_Comm* xcomm) {
  return c::nothing_to_do(xcomm);
}

int MPIL_Comm_req_resize(MPIL_Comm* xcomm, int /*n*/) {
  return c::nothing_to_do(xcomm);
}

int MPIL_Info_init(MPIL_Info** info) {
  return c::guarded([&] {
    c::require(info != nullptr, MPI_ERR_ARG, "MPIL_Info_init: no place for the result");
    *info = std::make_unique<MPIL_Info>().release();
  });
}

int MPIL_Info_free(MPIL_Info** info) {
  return c::free_handle(info);
}

int MPIL_Alloc(void** pointer, int bytes) {
  return c::guarded([&] {
    c::require(pointer != nullptr, MPI_ERR_ARG, "MPIL_Alloc: no place for the result");
    c::require(bytes >= 0, MPI_ERR_ARG, "MPIL_Alloc: a negative number of bytes");
    *pointer = bytes == 0 ? nullptr : std::malloc(static_cast<std::size_t>(bytes));
    if (bytes > 0 && *pointer == nullptr) throw std::bad_alloc();
  });
}

int MPIL_Free(void* pointer) {
  std::free(pointer);
  return MPI_SUCCESS;
}

int MPIL_Topo_init(int indegree, const int sources[], const int* /*sourceweights*/, int outdegree,
                   const int destinations[], const int* /*destweights*/, MPIL_Info* /*info*/,
                   MPIL_Topo** mpil_topo_ptr) {
  return c::guarded([&] {
    c::require(mpil_topo_ptr != nullptr, MPI_ERR_ARG, "MPIL_Topo_init: no place for the result");
    c::Neighbours neighbours = c::copied(indegree, sources, outdegree, destinations);
    *mpil_topo_ptr = std::make_unique<MPIL_Topo>(MPIL_Topo{std::move(neighbours)}).release();
  });
}

int MPIL_Topo_from_neighbor_comm(MPIL_Comm* comm, MPIL_Topo** mpil_topo_ptr) {
  return c::guarded([&] {
    c::require(mpil_topo_ptr != nullptr, MPI_ERR_ARG,
               "MPIL_Topo_from_neighbor_comm: no place for the result");
    *mpil_topo_ptr = std::make_unique<MPIL_Topo>(MPIL_Topo{c::neighbours_of(comm)}).release();
  });
}

int MPIL_Topo_free(MPIL_Topo** topo) {
  return c::free_handle(topo);
}

int MPIL_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int* /*sourceweights*/, int outdegree,
                                    const int destinations[], const int* /*destweights*/,
                                    MPIL_Info* /*info*/, int /*reorder*/,
                                    MPIL_Comm** comm_dist_graph_ptr) {
  return c::guarded([&] {
    c::check_comm(comm_old);
    c::require(comm_dist_graph_ptr != nullptr, MPI_ERR_ARG,
               "MPIL_Dist_graph_create_adjacent: no place for the result");
    auto made = std::make_unique<MPIL_Comm>(MPIL_Comm{mpi::Comm::create(comm_old)});
    mpi::collectively(*made->comm, [&] {
      made->neighbours = c::copied(indegree, sources, outdegree, destinations);
      c::require_ranks(*made->neighbours, made->comm->size());
    });
    *comm_dist_graph_ptr = made.release();
  });
}

}  // extern "C"
