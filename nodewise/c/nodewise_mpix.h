/* Communication over MPI that knows the nodes, for C and C++. Link with -lnodewise_mpix and MPI.
 * Sparse dynamic data exchange: every process knows whom it sends to, none knows who will send to
 * it. Collectives: allreduce, allgather, alltoallv with few messages between nodes.
 *
 * The calls of the sparse exchange are those of Geyko, Collom, Schafer, Bridges, Bienz, "A more
 * scalable sparse dynamic data exchange", 2024, figures 3 and 4. Each call returns MPI_SUCCESS or
 * an error class of MPI; the text is in MPIX_Last_error(). None ends the program or lets an
 * exception out. Where a collective call finds an argument wrong on one process it fails with the
 * same class and text on all, nothing is sent, and the communicator can be used further. */
#ifndef NODEWISE_MPIX_H
#define NODEWISE_MPIX_H

#include <stdint.h>

#include <mpi.h>

#if defined(__GNUC__)
#define NODEWISE_MPIX_API __attribute__((visibility("default")))
#else
#define NODEWISE_MPIX_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator that knows which processes share a node. */
typedef struct MPIX_Comm MPIX_Comm;
/* How calls are carried out: options by name. */
typedef struct MPIX_Info MPIX_Info;

/* Collective on `comm`, of which a duplicate is kept: messages cannot meet the caller's. MPI is
 * asked which processes share memory. Intercommunicators are refused with MPI_ERR_COMM. */
NODEWISE_MPIX_API int MPIX_Comm_init(MPIX_Comm** xcomm, MPI_Comm comm);

/* Collective. The same with a given placement: node_of_rank[r], one number for each process of
 * `comm`, names the node of process r by any number from 0 on. The same on all processes. */
NODEWISE_MPIX_API int MPIX_Comm_init_nodes(MPIX_Comm** xcomm, MPI_Comm comm,
                                           const int node_of_rank[]);

/* Collective. Sets *xcomm to NULL; NULL itself is left alone. Before MPI_Finalize. */
NODEWISE_MPIX_API int MPIX_Comm_free(MPIX_Comm** xcomm);

/* Local. An object without any option set. */
NODEWISE_MPIX_API int MPIX_Info_init(MPIX_Info** xinfo);

/* Local. Sets an option. "sparse_exchange" is automatic (chosen at each call), personalized,
 * nonblocking, locality_personalized, locality_nonblocking, locality_dense (one message a process
 * and node, then on the node), or, for MPIX_Alltoall_crs only, rma or locality_rma.
 * "sparse_exchange_region" is node, or domain where the communicator has some (MPIL). Two say more
 * of a sparse exchange, false without them: with "recv_nnz_is_exact" true, *recv_nnz is how many
 * messages will come, and is not found out again (MPI_ERR_ARG on all processes where it is wrong);
 * with "keep_window" true, the window of a one-sided exchange is left to the next one, and
 * MPIX_Comm_free waits for all processes. "allreduce", "allgather" and "alltoallv" are automatic
 * (chosen from the placement and the length), mpi (MPI's own), or node_aware; "allreduce" also
 * node_leaders or recursive_doubling, "allgather" also ring or bruck, "alltoallv" also pairwise or
 * spread_out. MPI_ERR_INFO_KEY or MPI_ERR_INFO_VALUE for what does not exist; MPIX_Last_error()
 * then names the nearest. */
NODEWISE_MPIX_API int MPIX_Info_set(MPIX_Info* xinfo, const char* key, const char* value);

/* Local. Sets *xinfo to NULL; NULL itself is left alone. */
NODEWISE_MPIX_API int MPIX_Info_free(MPIX_Info** xinfo);

/* Local. What went wrong in the last call of this thread that failed; "" if none did. Valid until
 * the next one does. */
NODEWISE_MPIX_API const char* MPIX_Last_error(void);

/* Collective on xcomm. Sends `sendcount` items to each of the send_nnz processes dest[i], taken
 * from sendvals at item i * sendcount. Destinations may be in any order, each once; one's own rank
 * is allowed. sendcount items of sendtype must be as many bytes as recvcount of recvtype, and as
 * many on every process.
 *
 * recv_nnz: before, how many messages src and recvvals have room for, INT_MAX where it is sure to
 * be enough; after, how many arrived. Fewer than there was room for is no error; a negative number
 *   is MPI_ERR_ARG on all processes.
 * src: the processes they came from, ascending. recvvals: message k at item k * recvcount.
 * xinfo: may be NULL; the same options on all processes.
 *
 * Returns MPI_ERR_TRUNCATE, on that process only, where more arrived than there is room for;
 * *recv_nnz then says how many, and nothing else was written. */
NODEWISE_MPIX_API int MPIX_Alltoall_crs(int send_nnz, const int* dest, int sendcount,
                                        MPI_Datatype sendtype, const void* sendvals, int* recv_nnz,
                                        int* src, int recvcount, MPI_Datatype recvtype,
                                        void* recvvals, const MPIX_Info* xinfo, MPIX_Comm* xcomm);

/* Collective on xcomm. Sends sendcounts[i] items, from none on, to dest[i], taken from sendvals at
 * item sdispls[i]; sendvals has send_size items.
 *
 * recv_nnz, recv_size: before, how many messages src, recvcounts and rdispls, and how many items
 *   recvvals have room for; after, how many arrived.
 * src, recvcounts, rdispls: where each message came from, its items, and where it begins in
 *   recvvals. Ordered by source, one message behind the other.
 *
 * With MPI_ERR_TRUNCATE both *recv_nnz and *recv_size say how much arrived.
 * Otherwise as MPIX_Alltoall_crs. */
NODEWISE_MPIX_API int MPIX_Alltoallv_crs(int send_nnz, int send_size, const int* dest,
                                         const int* sendcounts, const int* sdispls,
                                         MPI_Datatype sendtype, const void* sendvals, int* recv_nnz,
                                         int* recv_size, int* src, int* recvcounts, int* rdispls,
                                         MPI_Datatype recvtype, void* recvvals,
                                         const MPIX_Info* xinfo, MPIX_Comm* xcomm);

/* The same for counts and displacements above 2^31 - 1. */
NODEWISE_MPIX_API int MPIX_Alltoall_crs_c(int send_nnz, const int* dest, int64_t sendcount,
                                          MPI_Datatype sendtype, const void* sendvals,
                                          int* recv_nnz, int* src, int64_t recvcount,
                                          MPI_Datatype recvtype, void* recvvals,
                                          const MPIX_Info* xinfo, MPIX_Comm* xcomm);
NODEWISE_MPIX_API int MPIX_Alltoallv_crs_c(int send_nnz, int64_t send_size, const int* dest,
                                           const int64_t* sendcounts, const int64_t* sdispls,
                                           MPI_Datatype sendtype, const void* sendvals,
                                           int* recv_nnz, int64_t* recv_size, int* src,
                                           int64_t* recvcounts, int64_t* rdispls,
                                           MPI_Datatype recvtype, void* recvvals,
                                           const MPIX_Info* xinfo, MPIX_Comm* xcomm);

/* The collectives below are MPI's, with the arguments of MPI's, MPI_IN_PLACE included; any
 * datatypes, counts of zero. Collective on xcomm. xinfo: may be NULL, which is automatic; the same
 * option on all processes. Before the first message the arguments of all processes are compared:
 * those that do not fit each other are MPI_ERR_ARG on all of them, and no process waits; of
 * operations only whether they commute.
 * MPI_ERR_COUNT where MPI's own algorithm is set and cannot count so far. */

/* recvbuf: sendbuf of all processes, combined by op, bitwise the same on all by any but MPI's
 * own algorithm. Operations of one's own (MPI_Op_create) are allowed. One that does not commute is
 * left by automatic to MPI's own algorithm, which keeps the order of the processes; with the others
 * it is MPI_ERR_OP on all processes, not computed by another algorithm than the one asked for. */
NODEWISE_MPIX_API int MPIX_Allreduce(const void* sendbuf, void* recvbuf, int count,
                                     MPI_Datatype datatype, MPI_Op op, const MPIX_Info* xinfo,
                                     MPIX_Comm* xcomm);

/* recvbuf: the recvcount items of every process, by rank. */
NODEWISE_MPIX_API int MPIX_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                     const MPIX_Info* xinfo, MPIX_Comm* xcomm);

/* recvbuf: the recvcounts[r] items of process r from item displs[r] on. The counts, but not the
 * displacements, are the same on all processes. */
NODEWISE_MPIX_API int MPIX_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const int recvcounts[], const int displs[],
                                      MPI_Datatype recvtype, const MPIX_Info* xinfo,
                                      MPIX_Comm* xcomm);

/* Sends sendcounts[r] items from item sdispls[r] of sendbuf on to process r, and receives
 * recvcounts[r] from it at item rdispls[r] of recvbuf. */
NODEWISE_MPIX_API int MPIX_Alltoallv(const void* sendbuf, const int sendcounts[],
                                     const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const int rdispls[],
                                     MPI_Datatype recvtype, const MPIX_Info* xinfo,
                                     MPIX_Comm* xcomm);

/* The same for counts and displacements above 2^31 - 1. */
NODEWISE_MPIX_API int MPIX_Allreduce_c(const void* sendbuf, void* recvbuf, int64_t count,
                                       MPI_Datatype datatype, MPI_Op op, const MPIX_Info* xinfo,
                                       MPIX_Comm* xcomm);
NODEWISE_MPIX_API int MPIX_Allgather_c(const void* sendbuf, int64_t sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                                       MPI_Datatype recvtype, const MPIX_Info* xinfo,
                                       MPIX_Comm* xcomm);
NODEWISE_MPIX_API int MPIX_Allgatherv_c(const void* sendbuf, int64_t sendcount,
                                        MPI_Datatype sendtype, void* recvbuf,
                                        const int64_t recvcounts[], const int64_t displs[],
                                        MPI_Datatype recvtype, const MPIX_Info* xinfo,
                                        MPIX_Comm* xcomm);
NODEWISE_MPIX_API int MPIX_Alltoallv_c(const void* sendbuf, const int64_t sendcounts[],
                                       const int64_t sdispls[], MPI_Datatype sendtype,
                                       void* recvbuf, const int64_t recvcounts[],
                                       const int64_t rdispls[], MPI_Datatype recvtype,
                                       const MPIX_Info* xinfo, MPIX_Comm* xcomm);

#ifdef __cplusplus
}
#endif

#endif
