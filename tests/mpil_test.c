/* nodewise_mpil.h, from C: every call by every algorithm beside MPI's, and what they refuse. */
#include <nodewise_mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpil_support.h"

enum { most_items = 64 * 8 };

int rank, size;
static int n_failures;

void expect(int condition, const char* what, int line) {
  if (condition) return;
  ++n_failures;
  fprintf(stderr, "rank %d, line %d: not true: %s; last error: %s\n", rank, line, what,
          MPIX_Last_error());
}

/* What one rank sends to another: -1 for no message, else the number of items, 0 to 6. */
static int length_of(int from, int to) {
  const unsigned h = 2654435761u * (unsigned)(from * 71 + to * 13 + 5) >> 20;
  return h % 3 == 0 ? -1 : (int)(h % 7);
}

static double item_of(int from, int to, int k) {
  return 1000.0 * from + 10 * to + k;
}

static void test_alltoallv_crs(MPIL_Comm* comm, MPIL_Info* info) {
  int dest[most_ranks], counts[most_ranks], displs[most_ranks];
  double values[most_items];
  int n = 0, n_items = 0;
  for (int to = size - 1; to >= 0; --to) {
    if (length_of(rank, to) < 0) continue;
    dest[n] = to;
    counts[n] = length_of(rank, to);
    displs[n] = n_items;
    for (int k = 0; k < counts[n]; ++k) values[n_items++] = item_of(rank, to, k);
    ++n;
  }
  int n_got = -1, size_got = -1; /* what is there before has no meaning */
  int *src = NULL, *got_counts = NULL, *got_displs = NULL;
  double* got = NULL;
  EXPECT(MPIL_Alltoallv_crs(n, n_items, dest, counts, displs, MPI_DOUBLE, values, &n_got, &size_got,
                            &src, &got_counts, &got_displs, MPI_DOUBLE, (void**)&got, info,
                            comm) == MPI_SUCCESS);
  int i = 0, total = 0;
  for (int from = 0; from < size; ++from) {
    const int length = length_of(from, rank);
    if (length < 0) continue;
    EXPECT(i < n_got && src[i] == from && got_counts[i] == length && got_displs[i] == total);
    for (int k = 0; k < length; ++k) EXPECT(got[total + k] == item_of(from, rank, k));
    total += length;
    ++i;
  }
  EXPECT(i == n_got && total == size_got && got_displs[n_got] == total);
  MPIL_Free(src);
  MPIL_Free(got_counts);
  MPIL_Free(got_displs);
  MPIL_Free(got);
}

static void test_alltoall_crs(MPIL_Comm* comm, MPIL_Info* info) {
  int dest[most_ranks], n = 0;
  double values[2 * most_ranks];
  for (int to = 0; to < size; ++to) {
    if (length_of(rank, to) < 0) continue;
    dest[n] = to;
    values[2 * n] = item_of(rank, to, 0);
    values[2 * n++ + 1] = 0.0;
  }
  int n_got = -1, *src = NULL;
  double* got = NULL;
  EXPECT(MPIL_Alltoall_crs(n, dest, 2, MPI_DOUBLE, values, &n_got, &src, 2, MPI_DOUBLE,
                           (void**)&got, info, comm) == MPI_SUCCESS);
  int i = 0;
  for (int from = 0; from < size; ++from) {
    if (length_of(from, rank) < 0) continue;
    EXPECT(i < n_got && src[i] == from);
    EXPECT(got[2 * i] == item_of(from, rank, 0) && got[2 * i + 1] == 0.0);
    ++i;
  }
  EXPECT(i == n_got);
  MPIL_Free(src);
  MPIL_Free(got);
}

static void test_sparse_exchanges(MPIL_Comm* comm) {
  MPIL_Info* info = NULL;
  EXPECT(MPIL_Info_init(&info) == MPI_SUCCESS);
  for (int a = ALLTOALL_CRS_RMA; a <= ALLTOALL_CRS_AUTOMATIC; ++a) {
    EXPECT(MPIL_Set_alltoall_crs((enum AlltoallCRSMethod)a) == MPI_SUCCESS);
    EXPECT((int)mpil_alltoall_crs_implementation == a);
    test_alltoall_crs(comm, info);
  }
  for (int a = ALLTOALLV_CRS_NONBLOCKING; a <= ALLTOALLV_CRS_AUTOMATIC; ++a) {
    EXPECT(MPIL_Set_alltoallv_crs((enum AlltoallvCRSMethod)a) == MPI_SUCCESS);
    test_alltoallv_crs(comm, NULL);
  }
  const int bad = rank == size - 1;
  const int dest[] = {bad ? size : 0}, values[] = {7};
  int n_got = -3, *src = NULL, *got = NULL;
  EXPECT(MPIL_Alltoall_crs(1, dest, 1, MPI_INT, values, &n_got, &src, 1, MPI_INT, (void**)&got,
                           info, comm) == MPI_ERR_ARG);
  EXPECT(MPIL_Alltoall_crs(0, NULL, 1, MPI_INT, NULL, &n_got, bad ? NULL : &src, 1, MPI_INT,
                           (void**)&got, info, comm) == MPI_ERR_ARG);
  EXPECT(n_got == -3 && src == NULL && got == NULL);
  EXPECT(MPIL_Info_free(&info) == MPI_SUCCESS);
}

/* By the algorithm that is set, beside MPI's. */
static void check_alltoall(MPIL_Comm* comm) {
  static int values[3 * most_ranks], got[3 * most_ranks], expected[3 * most_ranks];
  for (int k = 0; k < 3 * size; ++k) values[k] = expected[k] = 1000 * rank + k;
  MPI_Alltoall(MPI_IN_PLACE, 3, MPI_INT, expected, 3, MPI_INT, MPI_COMM_WORLD);
  EXPECT(MPIL_Alltoall(values, 3, MPI_INT, got, 3, MPI_INT, comm) == MPI_SUCCESS);
  EXPECT(memcmp(got, expected, 3 * sizeof(int) * (size_t)size) == 0);
  EXPECT(MPIL_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 3, MPI_INT, comm) ==
         MPI_SUCCESS);
  EXPECT(memcmp(values, expected, 3 * sizeof(int) * (size_t)size) == 0);
}

static void check_alltoallv(MPIL_Comm* comm) {
  static int values[most_items], got[most_items], expected[most_items];
  int n_sent[most_ranks], sent_at[most_ranks], n_got[most_ranks], got_at[most_ranks];
  for (int k = 0; k < most_items; ++k) values[k] = 1000 * rank + k;
  for (int r = 0; r < size; ++r) {
    n_sent[r] = (3 * rank + 5 * r) % 5;
    sent_at[r] = 5 * r;
    n_got[r] = (3 * r + 5 * rank) % 5;
    got_at[r] = 6 * (size - 1 - r);
  }
  memset(got, -1, sizeof got);
  memset(expected, -1, sizeof expected);
  MPI_Alltoallv(values, n_sent, sent_at, MPI_INT, expected, n_got, got_at, MPI_INT, MPI_COMM_WORLD);
  EXPECT(MPIL_Alltoallv(values, n_sent, sent_at, MPI_INT, got, n_got, got_at, MPI_INT, comm) ==
         MPI_SUCCESS);
  EXPECT(memcmp(got, expected, sizeof got) == 0);
}

static void test_mpil_collectives(MPIL_Comm* comm) {
  for (int a = ALLTOALL_PAIRWISE; a <= ALLTOALL_AUTOMATIC; ++a) {
    EXPECT(MPIL_Set_alltoall_algorithm((enum AlltoallMethod)a) == MPI_SUCCESS);
    check_alltoall(comm);
  }
  for (int a = ALLTOALLV_PAIRWISE; a <= ALLTOALLV_AUTOMATIC; ++a) {
    EXPECT(MPIL_Set_alltoallv_algorithm((enum AlltoallvMethod)a) == MPI_SUCCESS);
    check_alltoallv(comm);
  }
  const int mine[] = {rank, rank * rank};
  int sums[2], expected[2], all[2 * most_ranks];
  MPI_Allreduce(mine, expected, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int a = ALLREDUCE_RECURSIVE_DOUBLING; a <= ALLREDUCE_AUTOMATIC; ++a) {
    EXPECT(MPIL_Set_allreduce_algorithm((enum AllreduceMethod)a) == MPI_SUCCESS);
    EXPECT(MPIL_Allreduce(mine, sums, 2, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    EXPECT(memcmp(sums, expected, sizeof sums) == 0);
  }
  for (int a = ALLGATHER_RING; a <= ALLGATHER_AUTOMATIC; ++a) {
    EXPECT(MPIL_Set_allgather_algorithm((enum AllgatherMethod)a) == MPI_SUCCESS);
    EXPECT(MPIL_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, comm) == MPI_SUCCESS);
    for (int r = 0; r < size; ++r) EXPECT(all[2 * r] == r && all[2 * r + 1] == r * r);
  }
  const int bad = rank == size - 1;
  EXPECT(MPIL_Alltoall(mine, bad ? -1 : 0, MPI_INT, all, 0, MPI_INT, comm) == MPI_ERR_ARG);
  EXPECT(MPIL_Allgather(mine, bad ? 1 : 2, MPI_INT, all, 2, MPI_INT, comm) == MPI_ERR_ARG);
  EXPECT(MPIL_Allreduce(mine, sums, 1, MPI_INT, MPI_SUM, NULL) == MPI_ERR_COMM);
}

static void test_switches(void) {
  const enum AlltoallMethod before = mpil_alltoall_implementation;
  EXPECT(MPIL_Set_alltoall_algorithm((enum AlltoallMethod)99) == MPI_ERR_ARG);
  EXPECT(MPIL_Set_alltoallv_neighbor_alogorithm((enum NeighborAlltoallvMethod)2) == MPI_ERR_ARG);
  EXPECT(mpil_alltoall_implementation == before);
}

static void test_handles(void) {
  MPIL_Comm* comm = NULL;
  EXPECT(MPIL_Comm_init(&comm, MPI_COMM_NULL) == MPI_ERR_COMM && comm == NULL);
  EXPECT(MPIL_Comm_init(NULL, MPI_COMM_WORLD) == MPI_ERR_ARG);
  EXPECT(MPIL_Comm_topo_init(NULL) == MPI_ERR_COMM);
  EXPECT(MPIL_Comm_free(&comm) == MPI_SUCCESS);
  EXPECT(MPIL_Comm_init(&comm, MPI_COMM_WORLD) == MPI_SUCCESS);
  const int bad = rank == size - 1;
  EXPECT(MPIL_Comm_update_locality(comm, bad ? 0 : 1) == MPI_ERR_ARG);
  EXPECT(MPIL_Comm_leader_init(comm, bad ? 0 : 1) == MPI_ERR_ARG);
  if (size > 2) EXPECT(MPIL_Comm_update_locality(comm, bad ? 1 : 2) == MPI_ERR_ARG);
  EXPECT(MPIL_Comm_topo_init(comm) == MPI_SUCCESS && MPIL_Comm_win_init(comm, 8, 1) == MPI_SUCCESS);
  EXPECT(MPIL_Comm_device_init(comm) == MPI_SUCCESS &&
         MPIL_Comm_req_resize(comm, 4) == MPI_SUCCESS);
  EXPECT(MPIL_Comm_device_free(comm) == MPI_SUCCESS && MPIL_Comm_win_free(comm) == MPI_SUCCESS);
  EXPECT(MPIL_Comm_topo_free(comm) == MPI_SUCCESS);
  int tags[2] = {-1, -1};
  EXPECT(MPIL_Comm_tag(comm, &tags[0]) == MPI_SUCCESS &&
         MPIL_Comm_tag(comm, &tags[1]) == MPI_SUCCESS);
  EXPECT(tags[0] >= 0 && tags[1] >= 0 && tags[0] != tags[1]);
  EXPECT(MPIL_Comm_free(&comm) == MPI_SUCCESS && comm == NULL);
  void* memory = &comm;
  EXPECT(MPIL_Alloc(&memory, 0) == MPI_SUCCESS && memory == NULL);
  EXPECT(MPIL_Alloc(&memory, -1) == MPI_ERR_ARG);
  EXPECT(MPIL_Alloc(&memory, 100) == MPI_SUCCESS && memory != NULL);
  EXPECT(MPIL_Free(memory) == MPI_SUCCESS && MPIL_Free(NULL) == MPI_SUCCESS);
}

/* Nodes of `ppn` processes, those of MPI for 0; in domains of `leaders`, not for 0. */
static void test_placement(int ppn, int leaders) {
  MPIL_Comm* comm = NULL;
  EXPECT(MPIL_Comm_init(&comm, MPI_COMM_WORLD) == MPI_SUCCESS);
  if (ppn > 0) EXPECT(MPIL_Comm_update_locality(comm, ppn) == MPI_SUCCESS);
  if (leaders > 0) EXPECT(MPIL_Comm_leader_init(comm, leaders) == MPI_SUCCESS);
  test_sparse_exchanges(comm);
  test_mpil_collectives(comm);
  if (leaders > 0) {
    EXPECT(MPIL_Comm_leader_free(comm) == MPI_SUCCESS);
    check_alltoall(comm);
  }
  EXPECT(MPIL_Comm_free(&comm) == MPI_SUCCESS);
  test_neighbours(ppn, leaders);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_handles();
  test_switches();
  test_neighbour_errors();
  test_placement(0, 0);
  test_placement(1, 0);
  test_placement(2, 0);
  test_placement(3, 0);
  test_placement(4, 2);
  int all = 0;
  MPI_Allreduce(&n_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d failures\n", size, all);
  MPI_Finalize();
  return all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
