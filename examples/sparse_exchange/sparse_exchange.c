/* Every process knows whom it sends to; the exchange finds out who receives what from whom.
 *   mpicc sparse_exchange.c -lnodewise_mpix -o sparse_exchange && mpirun -n 4 ./sparse_exchange
 *
 * As in a sparse product, each process owns ten rows of a vector and needs some rows of others.
 * After the exchange the owners know which rows they must send to whom. */
#include <nodewise_mpix.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

enum { rows_per_process = 10, most_messages = 64, most_rows = 64 };

/* Ends the program with the library's message: one process prints it, since all fail alike. */
static void check(int status, int rank) {
  if (status == MPI_SUCCESS) return;
  if (rank == 0) fprintf(stderr, "%s\n", MPIX_Last_error());
  MPI_Finalize();
  exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* A communicator that knows which processes share a node. */
  MPIX_Comm* xcomm = NULL;
  check(MPIX_Comm_init(&xcomm, MPI_COMM_WORLD), rank);

  /* The algorithm is chosen by the library, or, as here, by the caller. */
  MPIX_Info* xinfo = NULL;
  check(MPIX_Info_init(&xinfo), rank);
  check(MPIX_Info_set(xinfo, "sparse_exchange", "locality_nonblocking"), rank);

  /* This process needs two rows of the next process and one of the first; the last process, whose
   * next one is the first, sends it all three in one message. */
  const int next = (rank + 1) % size;
  const int n_sends = next == 0 ? 1 : 2;
  const int dest[] = {next, 0};
  const int sendcounts[] = {next == 0 ? 3 : 2, 1};
  const int sdispls[] = {0, 2};
  const long long wanted[] = {(long long)next * rows_per_process,
                              (long long)next * rows_per_process + 9, rank % rows_per_process};

  /* Who needs which rows of this process? Nobody told it so far. */
  int n_recvs = most_messages, n_rows = most_rows;
  int src[most_messages], recvcounts[most_messages], rdispls[most_messages];
  long long rows[most_rows];
  check(MPIX_Alltoallv_crs(n_sends, 3, dest, sendcounts, sdispls, MPI_LONG_LONG, wanted, &n_recvs,
                           &n_rows, src, recvcounts, rdispls, MPI_LONG_LONG, rows, xinfo, xcomm),
        rank);

  for (int k = 0; k < n_recvs; ++k) {
    printf("process %d must send to %d:", rank, src[k]);
    for (int i = 0; i < recvcounts[k]; ++i) printf(" row %lld", rows[rdispls[k] + i]);
    printf("\n");
  }

  MPIX_Info_free(&xinfo);
  MPIX_Comm_free(&xcomm);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
