/* A program for MPI Advance as its users write one: halos of a distributed vector. It knows nothing
 * of Nodewise but the name of the header, which is "locality_aware.h" with MPI Advance. */
#include <nodewise_mpil.h>
#include <stdio.h>
#include <stdlib.h>

enum { n_local = 12, reach = 15, n_steps = 4 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, num_procs;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_procs);
  const long n = (long)n_local * num_procs, first = (long)n_local * rank;

  MPIL_Comm* xcomm;
  MPIL_Info* xinfo;
  MPIL_Comm_init(&xcomm, MPI_COMM_WORLD);
  MPIL_Info_init(&xinfo);
  MPIL_Comm_update_locality(xcomm, 2);

  /* The entries wanted: up to `reach` on either side of those owned. */
  int n_recvs = 0, n_wanted = 0;
  int* recv_procs = malloc(sizeof(int) * (size_t)num_procs);
  int* recv_counts = malloc(sizeof(int) * (size_t)num_procs);
  int* recv_displs = malloc(sizeof(int) * (size_t)(num_procs + 1));
  long wanted[2 * reach];
  for (long i = first - reach; i < first + n_local + reach; ++i) {
    if (i < 0 || i >= n || (i >= first && i < first + n_local)) continue;
    const int owner = (int)(i / n_local);
    if (n_recvs == 0 || recv_procs[n_recvs - 1] != owner) {
      recv_procs[n_recvs] = owner;
      recv_counts[n_recvs] = 0;
      recv_displs[n_recvs++] = n_wanted;
    }
    ++recv_counts[n_recvs - 1];
    wanted[n_wanted++] = i;
  }

  /* Each process learns what is wanted of it. */
  int n_sends, send_size, *send_procs, *send_counts, *send_displs;
  long* asked;
  MPIL_Set_alltoallv_crs(ALLTOALLV_CRS_PERSONALIZED_LOC);
  int status = MPIL_Alltoallv_crs(n_recvs, n_wanted, recv_procs, recv_counts, recv_displs, MPI_LONG,
                                  wanted, &n_sends, &send_size, &send_procs, &send_counts,
                                  &send_displs, MPI_LONG, (void**)&asked, xinfo, xcomm);
  int n_wrong = status != MPI_SUCCESS;

  /* The exchange itself, again and again. */
  double* send_vals = malloc(sizeof(double) * (size_t)(send_size + 1));
  double recv_vals[2 * reach];
  MPIL_Topo* topo;
  MPIL_Request* request;
  MPI_Status mpi_status;
  MPIL_Topo_init(n_recvs, recv_procs, MPI_UNWEIGHTED, n_sends, send_procs, MPI_UNWEIGHTED, xinfo,
                 &topo);
  MPIL_Set_alltoallv_neighbor_init_alogorithm(NEIGHBOR_ALLTOALLV_INIT_LOCALITY);
  status = MPIL_Neighbor_alltoallv_init_ext_topo(send_vals, send_counts, send_displs, asked,
                                                 MPI_DOUBLE, recv_vals, recv_counts, recv_displs,
                                                 wanted, MPI_DOUBLE, topo, xcomm, xinfo, &request);
  n_wrong += status != MPI_SUCCESS;
  for (int step = 0; step < n_steps && n_wrong == 0; ++step) {
    for (int k = 0; k < send_size; ++k) send_vals[k] = (double)(asked[k] * (step + 1));
    MPIL_Start(request);
    MPIL_Wait(request, &mpi_status);
    for (int k = 0; k < n_wanted; ++k) n_wrong += recv_vals[k] != (double)(wanted[k] * (step + 1));
  }
  MPIL_Request_free(&request);
  MPIL_Topo_free(&topo);
  MPIL_Free(send_procs);
  MPIL_Free(send_counts);
  MPIL_Free(send_displs);
  MPIL_Free(asked);
  free(send_vals);
  free(recv_procs);
  free(recv_counts);
  free(recv_displs);
  MPIL_Info_free(&xinfo);
  MPIL_Comm_free(&xcomm);

  int all_wrong;
  MPI_Allreduce(&n_wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d processes, %d wrong values\n", num_procs, all_wrong);
  MPI_Finalize();
  return all_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
