/* The calls of MPI Advance 2 (`MPIL_`), carried out by Nodewise. A program of theirs includes this
 * file in place of "locality_aware.h" and links with -lnodewise_mpix; names and arguments are the
 * same. github.com/mpi-advance/locality_aware, 2.0.0 of November 2025; MPIL_Allreduce and
 * MPIL_Allgather as in their branch of January 2026.
 *
 * Every call returns MPI_SUCCESS or an error class of MPI; the text is in MPIX_Last_error() of
 * nodewise_mpix.h. None ends the program or lets an exception out. Where a collective call finds an
 * argument wrong on one process it fails on all, and nothing is sent. Buffers are memory of the
 * host; MPI's datatypes, derived ones included, are packed where they have gaps.
 *
 * Where the two differ: docs/c-interface.md. */
#ifndef NODEWISE_MPIL_H
#define NODEWISE_MPIL_H

#include <mpi.h>

#if defined(__GNUC__)
#define NODEWISE_MPIL_API __attribute__((visibility("default")))
#else
#define NODEWISE_MPIL_API
#endif

/* In C++, too, any number is a value that can be looked at, and refused. */
#ifdef __cplusplus
#define NODEWISE_MPIL_NUMBERS : unsigned
extern "C" {
#else
#define NODEWISE_MPIL_NUMBERS
#endif

/* A communicator that knows which processes share a node, with neighbours where
 * MPIL_Dist_graph_create_adjacent made it. */
typedef struct MPIL_Comm MPIL_Comm;
/* Has no options. May be NULL wherever it is an argument. */
typedef struct MPIL_Info MPIL_Info;
/* The neighbours of this process, without a communicator. */
typedef struct MPIL_Topo MPIL_Topo;
/* A neighbourhood exchange, to be repeated. */
typedef struct MPIL_Request MPIL_Request;

/* Algorithms. Those of a line are one to Nodewise, named in [].
 * [automatic] chooses at each call from the placement of the processes and the length. It is the
 * default of the collectives and of the sparse exchanges, and has a name here that theirs lack. */
enum AlltoallMethod NODEWISE_MPIL_NUMBERS {
  ALLTOALL_PAIRWISE,              /* [pairwise] */
  ALLTOALL_NONBLOCKING,           /* [spread_out] */
  ALLTOALL_HIERARCHICAL_PAIRWISE, /* [node_aware], down to the last but one */
  ALLTOALL_HIERARCHICAL_NONBLOCKING,
  ALLTOALL_MULTILEADER_PAIRWISE,
  ALLTOALL_MULTILEADER_NONBLOCKING,
  ALLTOALL_NODE_AWARE_PAIRWISE,
  ALLTOALL_NODE_AWARE_NONBLOCKING,
  ALLTOALL_LOCALITY_AWARE_PAIRWISE,
  ALLTOALL_LOCALITY_AWARE_NONBLOCKING,
  ALLTOALL_MULTILEADER_LOCALITY_PAIRWISE,
  ALLTOALL_MULTILEADER_LOCALITY_NONBLOCKING,
  ALLTOALL_PMPI, /* [mpi] */
  ALLTOALL_AUTOMATIC
};
enum AlltoallvMethod NODEWISE_MPIL_NUMBERS {
  ALLTOALLV_PAIRWISE,    /* [pairwise] */
  ALLTOALLV_NONBLOCKING, /* [spread_out], down to the last but two */
  ALLTOALLV_BATCH,
  ALLTOALLV_BATCH_ASYNC,
  ALLTOALLV_PMPI, /* [mpi] */
  ALLTOALLV_AUTOMATIC
};
enum AllreduceMethod NODEWISE_MPIL_NUMBERS {
  ALLREDUCE_RECURSIVE_DOUBLING,  /* [recursive_doubling] */
  ALLREDUCE_DISSEMINATION_LOC,   /* [node_aware] */
  ALLREDUCE_DISSEMINATION_ML,    /* [node_aware] */
  ALLREDUCE_DISSEMINATION_RADIX, /* [mpi] */
  ALLREDUCE_PMPI,                /* [mpi] */
  ALLREDUCE_AUTOMATIC
};
enum AllgatherMethod NODEWISE_MPIL_NUMBERS {
  ALLGATHER_RING,  /* [ring] */
  ALLGATHER_BRUCK, /* [bruck] */
  ALLGATHER_PMPI,  /* [mpi] */
  ALLGATHER_AUTOMATIC
};
/* [direct], each message goes straight; or [three_step], joined between nodes. */
enum NeighborAlltoallvMethod NODEWISE_MPIL_NUMBERS {
  NEIGHBOR_ALLTOALLV_STANDARD,
  NEIGHBOR_ALLTOALLV_LOCALITY
};
enum NeighborAlltoallvInitMethod NODEWISE_MPIL_NUMBERS {
  NEIGHBOR_ALLTOALLV_INIT_STANDARD,
  NEIGHBOR_ALLTOALLV_INIT_LOCALITY
};
enum AlltoallCRSMethod NODEWISE_MPIL_NUMBERS {
  ALLTOALL_CRS_RMA,              /* [rma] */
  ALLTOALL_CRS_NONBLOCKING,      /* [nonblocking] */
  ALLTOALL_CRS_NONBLOCKING_LOC,  /* [locality_nonblocking] */
  ALLTOALL_CRS_PERSONALIZED,     /* [personalized] */
  ALLTOALL_CRS_PERSONALIZED_LOC, /* [locality_personalized] */
  ALLTOALL_CRS_AUTOMATIC
};
enum AlltoallvCRSMethod NODEWISE_MPIL_NUMBERS {
  ALLTOALLV_CRS_NONBLOCKING,
  ALLTOALLV_CRS_NONBLOCKING_LOC,
  ALLTOALLV_CRS_PERSONALIZED,
  ALLTOALLV_CRS_PERSONALIZED_LOC,
  ALLTOALLV_CRS_AUTOMATIC
};

/* What the calls take from now on, in the whole process; the same on all processes. */
NODEWISE_MPIL_API extern enum AlltoallMethod mpil_alltoall_implementation;
NODEWISE_MPIL_API extern enum AlltoallvMethod mpil_alltoallv_implementation;
NODEWISE_MPIL_API extern enum AllreduceMethod mpil_allreduce_implementation;
NODEWISE_MPIL_API extern enum AllgatherMethod mpil_allgather_implementation;
NODEWISE_MPIL_API extern enum NeighborAlltoallvMethod mpil_neighbor_alltoallv_implementation;
NODEWISE_MPIL_API extern enum NeighborAlltoallvInitMethod
    mpil_neighbor_alltoallv_init_implementation;
NODEWISE_MPIL_API extern enum AlltoallCRSMethod mpil_alltoall_crs_implementation;
NODEWISE_MPIL_API extern enum AlltoallvCRSMethod mpil_alltoallv_crs_implementation;

/* Local. The same by a call. A value that is no algorithm is MPI_ERR_ARG and changes nothing.
 * (`alogorithm` is how they spell it.) */
NODEWISE_MPIL_API int MPIL_Set_alltoall_algorithm(enum AlltoallMethod algorithm);
NODEWISE_MPIL_API int MPIL_Set_alltoallv_algorithm(enum AlltoallvMethod algorithm);
NODEWISE_MPIL_API int MPIL_Set_allreduce_algorithm(enum AllreduceMethod algorithm);
NODEWISE_MPIL_API int MPIL_Set_allgather_algorithm(enum AllgatherMethod algorithm);
NODEWISE_MPIL_API int MPIL_Set_alltoallv_neighbor_alogorithm(
    enum NeighborAlltoallvMethod algorithm);
NODEWISE_MPIL_API int MPIL_Set_alltoallv_neighbor_init_alogorithm(
    enum NeighborAlltoallvInitMethod algorithm);
NODEWISE_MPIL_API int MPIL_Set_alltoall_crs(enum AlltoallCRSMethod algorithm);
NODEWISE_MPIL_API int MPIL_Set_alltoallv_crs(enum AlltoallvCRSMethod algorithm);

/* Collective on `global_comm`, of which a duplicate is kept. MPI is asked which processes share
 * memory. Intercommunicators are refused with MPI_ERR_COMM. */
NODEWISE_MPIL_API int MPIL_Comm_init(MPIL_Comm** xcomm_ptr, MPI_Comm global_comm);
/* Collective. Sets *xcomm_ptr to NULL; NULL itself is left alone. Before MPI_Finalize. Requests
 * made on it may still be used. */
NODEWISE_MPIL_API int MPIL_Comm_free(MPIL_Comm** xcomm_ptr);

/* Collective. From now on every `ppn` processes in the order of their ranks are a node. Requests
 * keep the placement they were made with. */
NODEWISE_MPIL_API int MPIL_Comm_update_locality(MPIL_Comm* xcomm, int ppn);
/* Collective. Divides each node into domains of `procs_per_leader` processes: messages between
 * nodes are joined inside the domains first. free: the nodes are whole again. */
NODEWISE_MPIL_API int MPIL_Comm_leader_init(MPIL_Comm* xcomm, int procs_per_leader);
NODEWISE_MPIL_API int MPIL_Comm_leader_free(MPIL_Comm* xcomm);
/* Local. *tag: a tag for messages of the caller's, another one at each call. */
NODEWISE_MPIL_API int MPIL_Comm_tag(MPIL_Comm* comm, int* tag);

/* Local. Nothing is to be done: nodes are known from MPIL_Comm_init on, memory for messages grows
 * as needed, windows are made where an algorithm puts, cards are not used. MPI_ERR_COMM for NULL.
 */
NODEWISE_MPIL_API int MPIL_Comm_topo_init(MPIL_Comm* xcomm);
NODEWISE_MPIL_API int MPIL_Comm_topo_free(MPIL_Comm* xcomm);
NODEWISE_MPIL_API int MPIL_Comm_win_init(MPIL_Comm* xcomm, int bytes, int type_bytes);
NODEWISE_MPIL_API int MPIL_Comm_win_free(MPIL_Comm* xcomm);
NODEWISE_MPIL_API int MPIL_Comm_device_init(MPIL_Comm* xcomm);
NODEWISE_MPIL_API int MPIL_Comm_device_free(MPIL_Comm* xcomm);
NODEWISE_MPIL_API int MPIL_Comm_req_resize(MPIL_Comm* xcomm, int n);

/* Local. */
NODEWISE_MPIL_API int MPIL_Info_init(MPIL_Info** info);
NODEWISE_MPIL_API int MPIL_Info_free(MPIL_Info** info);

/* Local. Memory of `bytes` bytes, NULL for none. MPIL_Free gives back this and what the sparse
 * exchanges return. */
NODEWISE_MPIL_API int MPIL_Alloc(void** pointer, const int bytes);
NODEWISE_MPIL_API int MPIL_Free(void* pointer);

/* Local. The neighbours of this process: those it hears from and those it sends to, each any number
 * of times, itself among them if wanted. Weights are not used. */
NODEWISE_MPIL_API int MPIL_Topo_init(int indegree, const int sources[], const int* sourceweights,
                                     int outdegree, const int destinations[],
                                     const int* destweights, MPIL_Info* info,
                                     MPIL_Topo** mpil_topo_ptr);
/* Local. A copy of those of a communicator; MPI_ERR_TOPOLOGY where it has none. */
NODEWISE_MPIL_API int MPIL_Topo_from_neighbor_comm(MPIL_Comm* comm, MPIL_Topo** mpil_topo_ptr);
NODEWISE_MPIL_API int MPIL_Topo_free(MPIL_Topo** topo);

/* Collective on `comm_old`. MPIL_Comm_init with neighbours. Processes keep their ranks: `reorder`
 * is leave to change them, which is not made use of. */
NODEWISE_MPIL_API int MPIL_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree,
                                                      const int sources[], const int* sourceweights,
                                                      int outdegree, const int destinations[],
                                                      const int* destweights, MPIL_Info* info,
                                                      int reorder, MPIL_Comm** comm_dist_graph_ptr);

/* Collective. As MPI's of the same name, MPI_IN_PLACE included. */
NODEWISE_MPIL_API int MPIL_Alltoall(const void* sendbuf, const int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const int recvcount, MPI_Datatype recvtype,
                                    MPIL_Comm* comm);
NODEWISE_MPIL_API int MPIL_Alltoallv(const void* sendbuf, const int sendcounts[],
                                     const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const int rdispls[],
                                     MPI_Datatype recvtype, MPIL_Comm* comm);
NODEWISE_MPIL_API int MPIL_Allreduce(const void* sendbuf, void* recvbuf, int count,
                                     MPI_Datatype datatype, MPI_Op op, MPIL_Comm* comm);
NODEWISE_MPIL_API int MPIL_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                     MPIL_Comm* comm);

/* Collective. Sends sendcounts[i] items from item sdispls[i] of sendbuf on to the i-th destination,
 * and receives recvcounts[i] from the i-th source at item rdispls[i] of recvbuf. What is named
 * twice is taken in the order it is named. Sends and receives are compared before anything is sent:
 * where a message has not the length its receiver expects, MPI_ERR_ARG on all processes.
 * The neighbours are those of `comm`, MPI_ERR_TOPOLOGY where it has none, or of `topo`. */
NODEWISE_MPIL_API int MPIL_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[],
                                              const int sdispls[], MPI_Datatype sendtype,
                                              void* recvbuf, const int recvcounts[],
                                              const int rdispls[], MPI_Datatype recvtype,
                                              MPIL_Comm* comm);
NODEWISE_MPIL_API int MPIL_Neighbor_alltoallv_topo(const void* sendbuf, const int sendcounts[],
                                                   const int sdispls[], MPI_Datatype sendtype,
                                                   void* recvbuf, const int recvcounts[],
                                                   const int rdispls[], MPI_Datatype recvtype,
                                                   MPIL_Topo* topo, MPIL_Comm* comm);

/* Collective. The same, to be started any number of times: the route is planned and the arguments
 * are compared once. Arrays of counts and displacements may be given back afterwards; the buffers
 * must last. With LOCALITY an item of sendbuf that goes to several processes of a node crosses to
 * it once. */
NODEWISE_MPIL_API int MPIL_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[],
                                                   const int sdispls[], MPI_Datatype sendtype,
                                                   void* recvbuf, const int recvcounts[],
                                                   const int rdispls[], MPI_Datatype recvtype,
                                                   MPIL_Comm* comm, MPIL_Info* info,
                                                   MPIL_Request** request_ptr);
NODEWISE_MPIL_API int MPIL_Neighbor_alltoallv_init_topo(
    const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPIL_Topo* topo, MPIL_Comm* comm, MPIL_Info* info, MPIL_Request** request_ptr);
/* global_sindices: the name of each item sent, in the order of the destinations. Items of a process
 * that have the same name have the same value, and count as one item above, wherever they are in
 * sendbuf. global_rindices: not needed, and may be NULL. */
NODEWISE_MPIL_API int MPIL_Neighbor_alltoallv_init_ext(
    const void* sendbuf, const int sendcounts[], const int sdispls[], const long global_sindices[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    const long global_rindices[], MPI_Datatype recvtype, MPIL_Comm* comm, MPIL_Info* info,
    MPIL_Request** request_ptr);
NODEWISE_MPIL_API int MPIL_Neighbor_alltoallv_init_ext_topo(
    const void* sendbuf, const int sendcounts[], const int sdispls[], const long global_sindices[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    const long global_rindices[], MPI_Datatype recvtype, MPIL_Topo* topo, MPIL_Comm* comm,
    MPIL_Info* info, MPIL_Request** request_ptr);

/* Collective; all processes start their requests in the same order. Between start and wait sendbuf
 * is only read and recvbuf left alone. MPI_ERR_REQUEST for NULL, or for one that is started
 * already.
 */
NODEWISE_MPIL_API int MPIL_Start(MPIL_Request* request);
/* Nothing to wait for is no error. *status is empty, as for a collective of MPI's; it may be
 * MPI_STATUS_IGNORE. */
NODEWISE_MPIL_API int MPIL_Wait(MPIL_Request* request, MPI_Status* status);
/* Completes the exchange first where it is started. Sets *request to NULL. */
NODEWISE_MPIL_API int MPIL_Request_free(MPIL_Request** request);
/* Local. Has no effect: messages of a started request are taken in any order. */
NODEWISE_MPIL_API int MPIL_Request_reorder(MPIL_Request* request, int value);

/* Collective. Sparse dynamic data exchange, as MPIX_Alltoall_crs and MPIX_Alltoallv_crs of
 * nodewise_mpix.h, but that the memory for what arrives is made by the call, and given back by
 * MPIL_Free. Ordered by source. (*rdispls_ptr)[*recv_nnz] is where the last message ends. */
NODEWISE_MPIL_API int MPIL_Alltoall_crs(const int send_nnz, const int* dest, const int sendcount,
                                        MPI_Datatype sendtype, const void* sendvals, int* recv_nnz,
                                        int** src_ptr, int recvcount, MPI_Datatype recvtype,
                                        void** recvvals_ptr, MPIL_Info* xinfo, MPIL_Comm* xcomm);
NODEWISE_MPIL_API int MPIL_Alltoallv_crs(const int send_nnz, const int send_size, const int* dest,
                                         const int* sendcounts, const int* sdispls,
                                         MPI_Datatype sendtype, const void* sendvals, int* recv_nnz,
                                         int* recv_size, int** src_ptr, int** recvcounts_ptr,
                                         int** rdispls_ptr, MPI_Datatype recvtype,
                                         void** recvvals_ptr, MPIL_Info* xinfo, MPIL_Comm* comm);

#ifdef __cplusplus
}
#endif

#endif
